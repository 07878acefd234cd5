import type { PullRequestReading } from '../admission/readings.ts';
import { type QueueRecord, treeOf } from './record.ts';

/** Enough to tell changes apart by. */
const SHORT_TITLE_CHARS = 40;

type Shed = (record: QueueRecord) => QueueRecord;

/** In this order, each on top of those before it: first what costs a call to read again, then what costs a gate run, then letters of titles. */
const STEPS: readonly Shed[] = [
  (record) => ({ ...record, readings: keepNewest(record, 0.5, 1) }),
  (record) => ({ ...record, readings: keepNewest(record, 0, 1) }),
  (record) => ({ ...record, readings: keepNewest(record, 0, 0.5) }),
  (record) => ({ ...record, readings: [] }),
  keepNeeded,
  shortenTitles,
];

/**
 * The record with less and less in it, for a store that has no room for all of it: nothing that stands on the forge, or
 * is to be written there, is ever left out. `step` 0 is the record itself; null: there is nothing more to leave out.
 */
export function shedRecord(record: QueueRecord, step: number): QueueRecord | null {
  if (step > STEPS.length) return null;
  return STEPS.slice(0, step).reduce((kept, shed) => shed(kept), record);
}

/** Shares of the readings of those outside the queue, and in it. The longest unread go, so that each has its turn. */
function keepNewest(record: QueueRecord, idleShare: number, queuedShare: number): PullRequestReading[] {
  const inQueue = new Set(record.entries.map(({ pr }) => pr));
  const newestFirst = [...record.readings].sort((a, b) => (b.readAt ?? 0) - (a.readAt ?? 0));
  const take = (isWanted: boolean, share: number) => {
    const all = newestFirst.filter(({ pr }) => inQueue.has(pr) === isWanted);
    return all.slice(0, Math.floor(all.length * share));
  };
  return [...take(true, queuedShare), ...take(false, idleShare)];
}

/** Evidence of what is in flight, and the memory of those in the queue. */
function keepNeeded(record: QueueRecord): QueueRecord {
  const inQueue = new Set(record.entries.map(({ pr }) => pr));
  const trees = new Set(
    record.batches.flatMap((batch) =>
      Array.from({ length: batch.members.length + 1 }, (_, length) => treeOf(batch, length)),
    ),
  );
  return {
    ...record,
    evidence: record.evidence.filter(({ tree }) => trees.has(tree)),
    mergeTimeoutCounts: record.mergeTimeoutCounts.filter(({ pr }) => inQueue.has(pr)),
    bounced: record.bounced.filter(({ pr }) => inQueue.has(pr)),
    deferred: record.deferred.filter(({ pr }) => inQueue.has(pr)),
    ...(record.attempts === undefined
      ? {}
      : { attempts: record.attempts.filter(({ pr }) => inQueue.has(pr)) }),
  };
}

function shortenTitles(record: QueueRecord): QueueRecord {
  const shorten = <T extends { readonly title: string }>(each: T): T => ({
    ...each,
    title: [...each.title].slice(0, SHORT_TITLE_CHARS).join(''),
  });
  return {
    ...record,
    entries: record.entries.map(shorten),
    batches: record.batches.map((batch) => ({ ...batch, members: batch.members.map(shorten) })),
  };
}
