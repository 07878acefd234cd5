import type { EpochMs } from '#core/domain/ids.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import type { AutoFanout } from '../policy/auto-fanout.ts';
import type { GateLooks } from './gate-looks-state.ts';
import type { Landing } from './landing-state.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { Batch, Node, QueueRecord } from './record.ts';
import type { Halt, Rival } from './stop-state.ts';
import type { Bounced } from './tried-heads-state.ts';

/** Names of the properties that are a time, where there is one. */
type TimeOf<Row> = {
  [Key in keyof Row]-?: Row[Key] extends EpochMs | null | undefined ? Key : never;
}[keyof Row];

/**
 * The wall clock was set forward or back. Moves the times that something waits from or until, and those that are compared
 * with one another, by the same step: so each wait lasts as long as before. Times of the forge stay.
 *
 * @param stepMs - How far forward; negative: back.
 */
export function followClock(record: QueueRecord, stepMs: number): QueueRecord {
  if (stepMs === 0) return record;
  const shift = <Row extends object>(row: Row, ...names: TimeOf<Row>[]): Row =>
    shiftTimes(row, stepMs, names);
  const {
    autoFanout,
    begunLately,
    forge,
    gateLooks,
    givenUp,
    halted,
    hook,
    landed,
    outside,
    outsideMove,
    recallHeads,
    rival,
    rule,
    runnersKnown,
    stagingRefused,
    unheard,
    unprovenBase,
  } = record;
  return {
    ...shift(record, 'restsUntil', 'lateUntil', 'othersAt', 'recalledAt', 'unreadSince', 'archivedSince'),
    ...(autoFanout && { autoFanout: shiftArrivals(autoFanout, stepMs) }),
    ...(begunLately && { begunLately: shift(begunLately, 'at', 'stagedAt') }),
    ...(forge && { forge: shift(forge, 'readAt') }),
    ...(gateLooks && { gateLooks: shiftLooks(gateLooks, stepMs) }),
    ...(hook && { hook: shift(hook, 'at') }),
    ...(rival && { rival: shiftStop(rival, stepMs) }),
    ...(rule && { rule: shift(rule, 'lookedAt') }),
    ...(runnersKnown && { runnersKnown: shift(runnersKnown, 'at') }),
    ...(stagingRefused && { stagingRefused: shift(stagingRefused, 'since', 'at') }),
    baseSeen: record.baseSeen && shift(record.baseSeen, 'at'),
    batches: record.batches.map((batch) => shiftBatch(batch, stepMs)),
    bounced: record.bounced.map((each) => shiftBounced(each, stepMs)),
    deferred: record.deferred.map((each) => shift(each, 'until')),
    entries: record.entries.map((entry) => shiftEntry(entry, stepMs)),
    evidence: record.evidence.map((each) => shift(each, 'at')),
    halted: halted && shiftStop(halted, stepMs),
    garbage: record.garbage.map((each) => shift(each, 'notBefore')),
    pendingStatuses: record.pendingStatuses.map((each) => shift(each, 'retryAt')),
    readings: record.readings.map((each) => shift(each, 'seenAt', 'readAt')),
    ...(givenUp && { givenUp: givenUp.map((each) => shift(each, 'at')) }),
    ...(landed && { landed: landed.map((each) => shift(each, 'at')) }),
    ...(outside && { outside: outside.map((each) => shift(each, 'at')) }),
    ...(outsideMove && { outsideMove: shift(outsideMove, 'since') }),
    ...(recallHeads && { recallHeads: recallHeads.map((each) => shift(each, 'until')) }),
    ...(unprovenBase && { unprovenBase: shift(unprovenBase, 'at') }),
    ...(unheard && { unheard: unheard.map((each) => shift(each, 'since', 'lookAt')) }),
  };
}

/** A stop that does not know its switching-on stays: set back, it could be lifted by that. */
function shiftStop<Row extends Halt | Rival>(stop: Row, stepMs: number): Row {
  return stop.enabledAt === undefined ? stop : { ...stop, at: stop.at + stepMs };
}

function shiftArrivals(auto: AutoFanout, stepMs: number): AutoFanout {
  const { arrivals } = auto;
  return arrivals === undefined ? auto : { ...auto, arrivals: shiftTimes(arrivals, stepMs, ['at']) };
}

function shiftLooks(looks: GateLooks, stepMs: number): GateLooks {
  const { missedAt } = looks;
  const moved = shiftTimes(looks, stepMs, ['at']);
  return missedAt === undefined
    ? moved
    : { ...moved, missedAt: shiftTimes(missedAt, stepMs, ['run', 'status']) };
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
