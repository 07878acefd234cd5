import { STALE_READING_MS, WAKE_DELAY_MS_MIN } from '#core/domain/limits.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import type { Snapshot, Trace } from '../../../../../engine-container/src/queue/snapshot.ts';
import { parseRecord, toDocument } from '../../../../../engine-container/src/stored-record/record-codec.ts';
import {
  givenNode,
  givenReceipt,
  givenRecord,
  givenStagedBatch,
  headOf,
} from '../../../../builders/queue-record.ts';
import { givenPull, givenSnapshot } from '../../../../builders/snapshot.ts';

const AT = 1_000_000;

function receipt(at: number) {
  const ends = { baseBefore: `m${at - 1}`, mergeCommit: `m${at}`, tree: `t${at}`, landedAt: AT };
  return givenReceipt({ ...ends, head: headOf(at), stagedSha: 'staged' });
}

/** All three have landed, each tree is proven; the history of the first `traced` of them is read. */
function landed(traced: number): QueueRecord {
  const batch = givenStagedBatch(3, {
    groundSha: 'm0',
    groundTree: 't0',
    landed: 3,
    tip: 'm3',
    chain: [1, 2, 3].map((at) => ({ sha: `s${at}`, tree: `t${at}` })),
    receipts: [1, 2, 3].slice(0, traced).map(receipt),
    untraced: [1, 2, 3].slice(traced).map((at) => ({ index: at - 1, receipt: receipt(at) })),
    nodes: [givenNode({ to: 3, state: 'done', sha: 'staged', tree: 't3', verdict: 'success', runKey: '1' })],
  });
  return givenRecord({ batches: [batch], tip: 'm3' });
}

const merged = [1, 2, 3].map((at) =>
  givenPull(at, { merged: true, state: 'closed', headSha: headOf(at), mergeCommitSha: `m${at}` }),
);

function look(
  record: QueueRecord,
  traces?: ReadonlyMap<string, Reading<Trace>>,
  seen: Partial<Snapshot> = { merged: known(merged) },
) {
  const unread = { full: false, base: UNKNOWN, protection: UNKNOWN, pulls: UNKNOWN, readings: null };
  const read = traces === undefined ? {} : { traces, ...seen };
  return decide(givenSnapshot({ now: AT, ...unread, ids: [], ...read }), record);
}

const told = (...given: Parameters<typeof look>) => {
  const decision = look(...given);
  return {
    events: decision.events.map(({ event, pr, reason }) => [event, pr, reason]),
    landed: decision.closedBatches.flatMap((batch) =>
      batch.nodes.flatMap((node) =>
        node.actions.map((action) => action.receipt?.mergeCommit ?? action.reason),
      ),
    ),
    halted: decision.record.halted?.pr ?? null,
    pollMs: decision.pollMs,
    wakeAt: decision.wakeAt,
    open: decision.record.batches.length,
  };
};
const good: ReadonlyMap<string, Reading<Trace>> = new Map(
  [1, 2, 3].map((at) => [`m${at}`, known(true)] as const),
);

describe('landings whose trees are proven, until their history is read (A2)', () => {
  test('no author is told, no row ends, and the history is asked for at once', () => {
    expect(told(landed(0))).toMatchObject({ events: [], landed: [], halted: null, pollMs: 0, open: 1 });
  });

  test('a history that cannot be read is asked for again, later', () => {
    const unread = new Map([1, 2, 3].map((at) => [`m${at}`, UNKNOWN]));
    expect(told(landed(0), unread)).toMatchObject({
      events: [],
      landed: [],
      halted: null,
      pollMs: 4_000,
      open: 1,
    });
  });

  test.each([0, 1, 2])('traced to the tip below, they have their receipts, in order; %d before', (traced) => {
    expect(told(landed(traced), good)).toMatchObject({
      events: [1, 2, 3].slice(traced).map((pr) => ['pr_landed', pr, null]),
      landed: ['m1', 'm2', 'm3'],
      halted: null,
      open: 0,
    });
  });

  test('one that does not stand on the tip below halts the queue, and what stands on it is as unverified', () => {
    const traces = new Map([...good, ['m2', known(false)]]);
    expect(told(landed(0), traces)).toMatchObject({
      events: [
        ['pr_landed', 1, null],
        ['pr_landed', 2, 'unverified'],
        ['pr_landed', 3, 'unverified'],
      ],
      landed: ['m1', 'unverified', 'unverified'],
      halted: 2,
    });
  });

  test('… while one before it still waits for the forge to call it merged', () => {
    const traces = new Map([...good, ['m2', known(false)]]);
    const seen = { merged: known(merged.slice(1)), ownPulls: new Map([[1, known(givenPull(1))]]) };
    expect(told(landed(0), traces, seen)).toMatchObject({
      events: [
        ['pr_landed', 2, 'unverified'],
        ['pr_landed', 3, 'unverified'],
      ],
      halted: 2,
      open: 1,
    });
  });

  test.each([
    ['the list of merged pull requests is not read', { merged: UNKNOWN }],
    ['one that it lacks is not read', { merged: known(merged.slice(1)), ownPulls: new Map([[1, UNKNOWN]]) }],
    ['… or is read with another look', { merged: known(merged.slice(1)) }],
  ])('are not told while %s', (_, seen) => {
    expect(told(landed(0), good, seen)).toMatchObject({
      events: [],
      halted: null,
      wakeAt: AT + WAKE_DELAY_MS_MIN,
      open: 1,
    });
  });

  test('… however long ago, where the look did not come to read one behind another', () => {
    const seen = {
      merged: known(merged.slice(2)),
      ownPulls: new Map([[1, known(merged[0] ?? givenPull(1))]]),
      now: AT + 5 * STALE_READING_MS,
    };
    expect(told(landed(0), good, seen)).toMatchObject({ events: [['pr_landed', 1, null]], open: 1 });
  });

  test('those that a forge which was put back has lost are no landings, and hold up nothing', () => {
    const traces = new Map([...good, ['m2', known('lost' as const)], ['m3', known('lost' as const)]]);
    expect(told(landed(0), traces)).toMatchObject({
      events: [
        ['pr_landed', 1, null],
        ['pr_skipped', 2, 'left_the_queue'],
        ['pr_skipped', 3, 'left_the_queue'],
      ],
      halted: null,
      // Their pull requests are in the list again, which is not looked through before.
      wakeAt: AT + WAKE_DELAY_MS_MIN,
      open: 0,
    });
  });

  test('waiting statuses are kept over a restart', () => {
    const record = landed(1);
    expect(parseRecord(JSON.parse(JSON.stringify(toDocument(record))))?.record).toEqual(record);
    expect(parseRecord(JSON.parse(JSON.stringify(toDocument(look(record).record))))).not.toBeNull();
  });
});
