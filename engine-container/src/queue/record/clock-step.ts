import type { EpochMs } from '#core/domain/ids.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import type { AutoFanout } from '../policy/auto-fanout.ts';
import type { Bounced } from './aside.ts';
import type { GateLooks } from './gate-looks-state.ts';
import type { Landing } from './landing-state.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { Batch, Node, QueueRecord } from './record.ts';
import type { Halt, Rival } from './stop-state.ts';

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
  const move = <Row extends object>(row: Row, ...names: TimeOf<Row>[]): Row => moveTimes(row, stepMs, names);
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
    ...move(record, 'restsUntil', 'lateUntil', 'othersAt', 'recalledAt', 'unreadSince', 'archivedSince'),
    ...(autoFanout && { autoFanout: moveArrivals(autoFanout, stepMs) }),
    ...(begunLately && { begunLately: move(begunLately, 'at', 'stagedAt') }),
    ...(forge && { forge: move(forge, 'readAt') }),
    ...(gateLooks && { gateLooks: moveLooks(gateLooks, stepMs) }),
    ...(hook && { hook: move(hook, 'at') }),
    ...(rival && { rival: moveStop(rival, stepMs) }),
    ...(rule && { rule: move(rule, 'lookedAt') }),
    ...(runnersKnown && { runnersKnown: move(runnersKnown, 'at') }),
    ...(stagingRefused && { stagingRefused: move(stagingRefused, 'since', 'at') }),
    baseSeen: record.baseSeen && move(record.baseSeen, 'at'),
    batches: record.batches.map((batch) => moveBatch(batch, stepMs)),
    bounced: record.bounced.map((each) => moveBounced(each, stepMs)),
    deferred: record.deferred.map((each) => move(each, 'until')),
    entries: record.entries.map((entry) => moveEntry(entry, stepMs)),
    evidence: record.evidence.map((each) => move(each, 'at')),
    halted: halted && moveStop(halted, stepMs),
    garbage: record.garbage.map((each) => move(each, 'notBefore')),
    pendingStatuses: record.pendingStatuses.map((each) => move(each, 'retryAt')),
    readings: record.readings.map((each) => move(each, 'seenAt', 'readAt')),
    ...(givenUp && { givenUp: givenUp.map((each) => move(each, 'at')) }),
    ...(landed && { landed: landed.map((each) => move(each, 'at')) }),
    ...(outside && { outside: outside.map((each) => move(each, 'at')) }),
    ...(outsideMove && { outsideMove: move(outsideMove, 'since') }),
    ...(recallHeads && { recallHeads: recallHeads.map((each) => move(each, 'until')) }),
    ...(unprovenBase && { unprovenBase: move(unprovenBase, 'at') }),
    ...(unheard && { unheard: unheard.map((each) => move(each, 'since', 'lookAt')) }),
  };
}

/** A stop that does not know its switching-on stays: set back, it could be lifted by that. */
function moveStop<Row extends Halt | Rival>(stop: Row, stepMs: number): Row {
  return stop.enabledAt === undefined ? stop : { ...stop, at: stop.at + stepMs };
}

function moveArrivals(auto: AutoFanout, stepMs: number): AutoFanout {
  const { arrivals } = auto;
  return arrivals === undefined ? auto : { ...auto, arrivals: moveTimes(arrivals, stepMs, ['at']) };
}

function moveLooks(looks: GateLooks, stepMs: number): GateLooks {
  const { missedAt } = looks;
  const moved = moveTimes(looks, stepMs, ['at']);
  return missedAt === undefined
    ? moved
    : { ...moved, missedAt: moveTimes(missedAt, stepMs, ['run', 'status']) };
}

function moveBounced(bounced: Bounced, stepMs: number): Bounced {
  const { verdict } = bounced;
  return verdict === undefined ? bounced : { ...bounced, verdict: moveTimes(verdict, stepMs, ['at']) };
}

function moveEntry(entry: QueueEntry, stepMs: number): QueueEntry {
  const { notReady, unclear } = entry;
  return {
    ...moveTimes(entry, stepMs, [
      'readyAt',
      'movedAt',
      'retestAfter',
      'contradictedAt',
      'goneSince',
      'unreadSince',
    ]),
    ...(notReady && { notReady: moveTimes(notReady, stepMs, ['since']) }),
    ...(unclear && { unclear: moveTimes(unclear, stepMs, ['since']) }),
  };
}

/** With the times of its landings: the base is judged by whether it was seen before or after them. */
function moveBatch(batch: Batch, stepMs: number): Batch {
  const { landing, nodes, receipts, untraced } = batch;
  const moveReceipt = (receipt: Receipt): Receipt => moveTimes(receipt, stepMs, ['landedAt']);
  return {
    ...moveTimes(batch, stepMs, ['createdAt', 'turnAt', 'unmergeableSince', 'unreadableSince']),
    landing: landing && moveLanding(landing, stepMs),
    nodes: nodes.map((node) => moveNode(node, stepMs)),
    receipts: receipts.map(moveReceipt),
    ...(untraced && {
      untraced: untraced.map((each) => ({ ...each, receipt: moveReceipt(each.receipt) })),
    }),
  };
}

function moveLanding(landing: Landing, stepMs: number): Landing {
  const { takeBack } = landing;
  return {
    ...moveTimes(landing, stepMs, ['intentAt', 'postedAt', 'askedAt', 'unmergeableSince']),
    takeBack: takeBack && moveTimes(takeBack, stepMs, ['postedAt']),
  };
}

function moveNode(node: Node, stepMs: number): Node {
  const { runnerWait } = node;
  return {
    ...moveTimes(node, stepMs, ['stagedAt', 'judgedAt', 'settledSince', 'unreadSince', 'retryAt']),
    ...(runnerWait && { runnerWait: moveTimes(runnerWait, stepMs, ['until']) }),
  };
}

/** Times that are absent or null stay so. */
function moveTimes<Row extends object>(row: Row, stepMs: number, names: readonly TimeOf<Row>[]): Row {
  const times = names.flatMap((name) => {
    const at: unknown = row[name];
    return typeof at === 'number' ? [[name, at + stepMs]] : [];
  });
  return { ...row, ...Object.fromEntries(times) };
}
