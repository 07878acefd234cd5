import type { EpochMs } from '#core/domain/ids.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import type { Landing } from './landing-state.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { Batch, Node, QueueRecord } from './record.ts';
import type { Halt, Rival } from './stop-state.ts';
import type { Bounced } from './tried-heads-state.ts';

/** Names of the properties that are a time, where there is one. */
type TimeOf<Row> = {
  [Key in keyof Row]-?: Row[Key] extends EpochMs | null | undefined ? Key : never;
}[keyof Row];

type RowOf<Rows> = NonNullable<Rows> extends readonly (infer Row)[] ? Row : NonNullable<Rows>;

/** Fields of the record, be they a row or a list of rows, and the times in each row. */
const ROW_TIMES = {
  baseSeen: ['at'],
  begunLately: ['at', 'stagedAt'],
  deferred: ['until'],
  evidence: ['at'],
  forge: ['readAt'],
  garbage: ['notBefore'],
  gateLooks: ['at'],
  givenUp: ['at'],
  hook: ['at'],
  landed: ['at'],
  outside: ['at'],
  outsideMove: ['since'],
  pendingStatuses: ['retryAt'],
  readings: ['seenAt', 'readAt'],
  recallHeads: ['until'],
  rule: ['lookedAt'],
  runnersKnown: ['at'],
  slowPatches: ['until'],
  stagingRefused: ['since', 'at'],
  unheard: ['since', 'lookAt'],
  unprovenBase: ['at'],
} as const satisfies { [Name in keyof QueueRecord]?: readonly TimeOf<RowOf<QueueRecord[Name]>>[] };

/**
 * The wall clock was set forward or back. Moves the times that something waits from or until, and those that are compared
 * with one another, by the same step: so each wait lasts as long as before. Times of the forge stay.
 *
 * @param stepMs - How far forward; negative: back.
 */
export function followClock(record: QueueRecord, stepMs: number): QueueRecord {
  if (stepMs === 0) return record;
  const { autoFanout, halted, rival } = record;
  const { arrivals } = autoFanout ?? {};
  const rows = Object.entries(ROW_TIMES).map(([name, times]) => {
    const value: unknown = record[name as keyof QueueRecord];
    const shift = (row: object): object =>
      shiftTimes(row, stepMs, times as readonly unknown[] as readonly never[]);
    if (Array.isArray(value)) return [name, value.map(shift)];
    return [name, typeof value === 'object' && value !== null ? shift(value) : value];
  });
  return {
    ...shiftTimes(record, stepMs, [
      'restsUntil',
      'lateUntil',
      'othersAt',
      'recalledAt',
      'unreadSince',
      'archivedSince',
    ]),
    ...Object.fromEntries(rows.filter(([, value]) => value !== undefined)),
    ...(arrivals && { autoFanout: { ...autoFanout, arrivals: shiftTimes(arrivals, stepMs, ['at']) } }),
    ...(rival && { rival: shiftStop(rival, stepMs) }),
    batches: record.batches.map((batch) => shiftBatch(batch, stepMs)),
    bounced: record.bounced.map((each) => shiftBounced(each, stepMs)),
    entries: record.entries.map((entry) => shiftEntry(entry, stepMs)),
    halted: halted && shiftStop(halted, stepMs),
  };
}

/** A stop that does not know its switching-on stays: set back, it could be lifted by that. */
function shiftStop<Row extends Halt | Rival>(stop: Row, stepMs: number): Row {
  return stop.enabledAt === undefined ? stop : { ...stop, at: stop.at + stepMs };
}

function shiftBounced(bounced: Bounced, stepMs: number): Bounced {
  const { verdict } = bounced;
  return verdict === undefined ? bounced : { ...bounced, verdict: shiftTimes(verdict, stepMs, ['at']) };
}

function shiftEntry(entry: QueueEntry, stepMs: number): QueueEntry {
  const { notReady, unclear } = entry;
  return {
    ...shiftTimes(entry, stepMs, [
      'readyAt',
      'movedAt',
      'retestAfter',
      'contradictedAt',
      'goneSince',
      'unreadSince',
    ]),
    ...(notReady && { notReady: shiftTimes(notReady, stepMs, ['since']) }),
    ...(unclear && { unclear: shiftTimes(unclear, stepMs, ['since']) }),
  };
}

/** With the times of its landings: the base is judged by whether it was seen before or after them. */
function shiftBatch(batch: Batch, stepMs: number): Batch {
  const { landing, nodes, receipts, untraced } = batch;
  const shiftReceipt = (receipt: Receipt): Receipt => shiftTimes(receipt, stepMs, ['landedAt']);
  return {
    ...shiftTimes(batch, stepMs, ['createdAt', 'turnAt', 'unmergeableSince', 'unreadableSince']),
    landing: landing && shiftLanding(landing, stepMs),
    nodes: nodes.map((node) => shiftNode(node, stepMs)),
    receipts: receipts.map(shiftReceipt),
    ...(untraced && {
      untraced: untraced.map((each) => ({ ...each, receipt: shiftReceipt(each.receipt) })),
    }),
  };
}

function shiftLanding(landing: Landing, stepMs: number): Landing {
  const { takeBack } = landing;
  return {
    ...shiftTimes(landing, stepMs, ['intentAt', 'postedAt', 'askedAt', 'unmergeableSince']),
    takeBack: takeBack && shiftTimes(takeBack, stepMs, ['postedAt']),
  };
}

function shiftNode(node: Node, stepMs: number): Node {
  const { runnerWait } = node;
  return {
    ...shiftTimes(node, stepMs, ['stagedAt', 'judgedAt', 'settledSince', 'unreadSince', 'retryAt']),
    ...(runnerWait && { runnerWait: shiftTimes(runnerWait, stepMs, ['until']) }),
  };
}

/** Times that are absent or null stay so. */
function shiftTimes<Row extends object>(row: Row, stepMs: number, names: readonly TimeOf<Row>[]): Row {
  const times = names.flatMap((name) => {
    const at: unknown = row[name];
    return typeof at === 'number' ? [[name, at + stepMs]] : [];
  });
  return { ...row, ...Object.fromEntries(times) };
}
