import type { EpochMs } from '#core/domain/ids.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { Batch, Node, QueueRecord } from './record.ts';

/** Names of the properties that are a time, where there is one. */
type TimeOf<Row> = {
  [Key in keyof Row]-?: Row[Key] extends EpochMs | null | undefined ? Key : never;
}[keyof Row];

/**
 * The wall clock was put forward, or back: a call that was sent may be carried out for as long after it as before, and a
 * gate run takes no longer. All times that something in flight waits from, or until, go along with the clock.
 *
 * @param stepMs - How far forward; negative: back.
 */
export function followClock(record: QueueRecord, stepMs: number): QueueRecord {
  if (stepMs === 0) return record;
  const move = <Row extends object>(row: Row, ...names: TimeOf<Row>[]): Row => moveTimes(row, stepMs, names);
  const moved = move(record, 'restsUntil', 'lateUntil', 'recalledAt', 'unreadSince');
  const { unheard, landed, recallHeads } = record;
  return {
    ...moved,
    batches: record.batches.map((batch) => moveBatch(batch, stepMs)),
    entries: record.entries.map((entry) => moveEntry(entry, stepMs)),
    readings: record.readings.map((each) => move(each, 'seenAt', 'readAt')),
    deferred: record.deferred.map((each) => move(each, 'until')),
    garbage: record.garbage.map((each) => move(each, 'notBefore')),
    pendingStatuses: record.pendingStatuses.map((each) => move(each, 'retryAt')),
    ...(unheard === undefined ? {} : { unheard: unheard.map((each) => move(each, 'since', 'lookAt')) }),
    ...(landed === undefined ? {} : { landed: landed.map((each) => move(each, 'at')) }),
    ...(recallHeads === undefined ? {} : { recallHeads: recallHeads.map((each) => move(each, 'until')) }),
  };
}

function moveEntry(entry: QueueEntry, stepMs: number): QueueEntry {
  const { unmergeable, notReady, unclear } = entry;
  return {
    ...moveTimes(entry, stepMs, ['readyAt', 'movedAt', 'contradictedAt', 'goneSince']),
    ...(unmergeable === undefined ? {} : { unmergeable: moveTimes(unmergeable, stepMs, ['since']) }),
    ...(notReady === undefined ? {} : { notReady: moveTimes(notReady, stepMs, ['since']) }),
    ...(unclear === undefined ? {} : { unclear: moveTimes(unclear, stepMs, ['since']) }),
  };
}

function moveBatch(batch: Batch, stepMs: number): Batch {
  const { landing, nodes } = batch;
  const sent = landing && moveTimes(landing, stepMs, ['intentAt', 'postedAt', 'askedAt', 'unmergeableSince']);
  const takeBack = sent?.takeBack && moveTimes(sent.takeBack, stepMs, ['postedAt']);
  return {
    ...moveTimes(batch, stepMs, ['turnAt', 'unmergeableSince', 'unreadableSince']),
    landing: sent && { ...sent, takeBack: takeBack ?? null },
    nodes: nodes.map((node) => moveNode(node, stepMs)),
  };
}

function moveNode(node: Node, stepMs: number): Node {
  const { runnerWait } = node;
  return {
    ...moveTimes(node, stepMs, ['stagedAt', 'judgedAt', 'settledSince', 'unreadSince', 'retryAt']),
    ...(runnerWait === undefined ? {} : { runnerWait: moveTimes(runnerWait, stepMs, ['until']) }),
  };
}

/** Those that are absent or null stay so. */
function moveTimes<Row extends object>(row: Row, stepMs: number, names: readonly TimeOf<Row>[]): Row {
  const times = names.flatMap((name) => {
    const at: unknown = row[name];
    return typeof at === 'number' ? [[name, at + stepMs]] : [];
  });
  return { ...row, ...Object.fromEntries(times) };
}
