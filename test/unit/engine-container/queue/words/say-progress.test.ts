import { PENDING_STATUSES_MAX } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { known } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import { beginPass } from '../../../../../engine-container/src/queue/decision-context.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { toQueueView } from '../../../../../engine-container/src/queue/told/view.ts';
import { DEPARTURES_BESIDE_MAX } from '../../../../../engine-container/src/queue/words/departure.ts';
import {
  describeDefer,
  describeDeparture,
  describeInLine,
  describeQueued,
  describeStaged,
  describeStopped,
} from '../../../../../engine-container/src/queue/words/phrases.ts';
import { sayProgress } from '../../../../../engine-container/src/queue/words/say-progress.ts';
import { givenEntry, givenRecord, givenStagedBatch, headOf } from '../../../../builders/queue-record.ts';
import { givenSnapshot, givenView, NOW } from '../../../../builders/snapshot.ts';

/** What is written on the head of #1 while nothing is staged anew. */
function wordsAfter(said: string | undefined, changes: Partial<QueueRecord> = {}): readonly string[] {
  const head = headOf(1);
  const { said: _, ...unsaid } = givenEntry(1);
  const entry =
    said === undefined ? unsaid : { ...unsaid, said: { head, state: 'pending' as const, description: said } };
  const record = givenRecord({ entries: [entry], tip: 'base-0', restsUntil: NOW + 60_000, ...changes });
  const { actions } = decide(givenSnapshot({ pulls: known([givenView(1)]) }), record);
  return actions.flatMap((action) => (action.kind === 'post_status' ? [action.description] : []));
}
const inBatch = { batches: [givenStagedBatch(1)] };

test('the first word says where it stands', () => {
  expect(wordsAfter(undefined)).toEqual([describeInLine(1)]);
  expect(wordsAfter(undefined, inBatch)).toEqual([describeStaged()]);
});

test('a word is replaced once it is not true any more', () => {
  expect(wordsAfter(describeStaged())).toEqual([describeInLine(1)]);
  expect(wordsAfter(describeInLine(1), inBatch)).toEqual([describeStaged()]);
  expect(wordsAfter(describeQueued(), inBatch)).toEqual([describeStaged()]);
});

test('a queue that has stopped says so to those in line', () => {
  const stopped = {
    halted: { reason: 'tree_mismatch' as const, pr: 3, mergeCommit: 'merge-3', at: NOW },
  };
  expect(wordsAfter(undefined, stopped)).toEqual([describeStopped()]);
  expect(wordsAfter(describeInLine(1), stopped)).toEqual([describeStopped()]);
  expect(wordsAfter(describeStopped(), stopped)).toEqual([]);
  expect(wordsAfter(describeStopped())).toEqual([describeInLine(1)]);
});

test.each<[string, Partial<QueueRecord>]>([
  ['a branch has its name', { nameInTheWay: { kind: 'branch', branches: ['mq/main/staging'] } }],
  ['a rule covers it', { ruledBranch: 'mq/main/staging' }],
  ['the forge has refused it for a minute', { stagingRefused: { since: NOW - 60_000, at: NOW } }],
])('a queue that cannot make its staging branch, because %s, says so to those in line', (_why, changes) => {
  expect(wordsAfter(undefined, changes)).toEqual([describeStopped()]);
});

test('words of a departure do not stand on one that is back', () => {
  const left = describeDeparture('auto_merge_cancelled');
  expect(wordsAfter(left)).toEqual([describeInLine(1)]);
  expect(wordsAfter(left, inBatch)).toEqual([describeStaged()]);
  const deferred = [{ pr: 1, head: headOf(1), reason: 'base_red' as const, baseTree: 'tree-0', until: null }];
  expect(wordsAfter(left, { deferred })).toEqual([describeDefer('base_red')]);
});

test('the place is counted as the page counts it, and the word stays while the line moves', () => {
  const numbers = [1, 2, 3];
  const entries = numbers.map((pr) => givenEntry(pr)).map(({ said: _, ...unsaid }) => unsaid);
  const bounced = [{ pr: 1, head: headOf(1), scheduleId: 1 }];
  const record = givenRecord({ entries, bounced, tip: 'base-0', restsUntil: NOW + 60_000 });
  const snapshot = givenSnapshot({ pulls: known(numbers.map((pr) => givenView(pr))) });
  const { actions, record: after } = decide(snapshot, record);
  const said = actions.flatMap((action) =>
    action.kind === 'post_status' ? [[action.pr, action.description]] : [],
  );
  expect(said).toEqual([
    [2, describeInLine(1)],
    [3, describeInLine(2)],
  ]);
  const inQueue = toQueueView(snapshot.repo, after, NOW).places.filter(({ state }) => state !== 'bounced');
  expect(inQueue.map(({ pr }) => pr)).toEqual([2, 3]);
  expect(wordsAfter(describeInLine(3))).toEqual([]);
});

test('a word that is true is not written again, and other words of the queue stay', () => {
  expect(wordsAfter(describeInLine(1))).toEqual([]);
  expect(wordsAfter(describeStaged(), inBatch)).toEqual([]);
  expect(wordsAfter('requeued: the base branch moved', inBatch)).toEqual([]);
});

// Counted for each word, the places of a long line hold up the engine of all queues for seconds.
test('the places of a line are counted once for all words of a look', () => {
  const numbers = Array.from({ length: 2_000 }, (_, at) => at + 1);
  const entries = numbers.map((pr) => givenEntry(pr)).map(({ said: _, ...unsaid }) => unsaid);
  let asked = 0;
  const bounced = Array.from({ length: 500 }, (_, at) => ({
    get pr() {
      asked += 1;
      return 10_000 + at;
    },
    head: headOf(10_000 + at),
    scheduleId: 1,
  }));
  const record = givenRecord({ entries, tip: 'base-0' });
  const pass = beginPass(givenSnapshot(), record);
  pass.record.bounced = bounced;
  sayProgress(pass);
  expect(pass.record.pendingStatuses.length).toBeGreaterThan(100);
  expect(asked).toBeLessThan(2 * entries.length * bounced.length);
});

test('while words wait for hundreds of heads, one that leaves is told so at once, and of many that leave the first, and those that are staged', () => {
  const left = describeDeparture('auto_merge_cancelled');
  const pulls = [1, 2].map((pr) => givenView(pr, { schedule: known({ kind: 'none' }) }));
  const saidOf = (waiting: number, others: string): readonly string[] => {
    const sayLater = (index: number) => ({
      context: DEFAULT_SERVICE_NAME,
      pr: 1000 + index,
      sha: headOf(1000 + index),
      state: 'error' as const,
      description: index < DEPARTURES_BESIDE_MAX ? others : 'refused',
      targetUrl: null,
      retryAt: NOW + 60_000,
    });
    const record = givenRecord({
      entries: [givenEntry(1), givenEntry(2)],
      pendingStatuses: Array.from({ length: waiting }, (_, index) => sayLater(index)),
      ...inBatch,
    });
    const { pendingStatuses } = decide(givenSnapshot({ ids: [], pulls: known(pulls) }), record).record;
    return pendingStatuses.flatMap(({ pr, description }) =>
      pr < 1000 && description === left ? [`#${pr}`] : [],
    );
  };
  expect(saidOf(PENDING_STATUSES_MAX / 2 - 2, left)).toEqual(['#1', '#2']);
  expect(saidOf(PENDING_STATUSES_MAX, 'refused')).toEqual(['#1', '#2']);
  expect(saidOf(PENDING_STATUSES_MAX / 2, left)).toEqual(['#1']);
});
