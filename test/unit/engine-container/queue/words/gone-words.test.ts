import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { known, UNKNOWN } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import {
  describeDeparture,
  describeQueued,
} from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenEntry, givenRecord, headOf } from '../../../../builders/queue-record.ts';
import { givenSnapshot, givenView, NOW } from '../../../../builders/snapshot.ts';

/** What is written on the head of #1, which no schedule holds, where it promises that the queue goes on; another one with the head has landed, or #1 itself. */
function wordsWhereLanded(pr: number): readonly string[] {
  const promise = {
    id: 1,
    context: DEFAULT_SERVICE_NAME,
    state: 'pending',
    description: describeQueued(),
    creator: 'mq-bot',
    createdAt: NOW - 1_000,
    targetUrl: null,
  } as const;
  const view = givenView(1, { schedule: known({ kind: 'none' }), statuses: known([promise]) });
  const landed = [
    { pr, head: headOf(1), at: NOW - 1_000, baseBefore: 'base-0', tree: 'tree-1', mergeCommit: 'merge-1' },
  ];
  const record = givenRecord({ landed, landedNumbers: [pr], tip: 'base-0', restsUntil: NOW + 60_000 });
  const { actions } = decide(givenSnapshot({ pulls: known([view]), botLogin: known('mq-bot') }), record);
  return actions.flatMap((action) => (action.kind === 'post_status' ? [action.description] : []));
}

test('an open pull request is promised nothing where another one with its head has landed', () => {
  expect(wordsWhereLanded(2)).toEqual([describeDeparture('left_the_queue')]);
});

test('one that has landed and is still listed as open keeps what stands on its head', () => {
  expect(wordsWhereLanded(1)).toEqual([]);
});

test.each([
  ['has landed', headOf(1), []],
  ['has landed with another head', headOf(2), [describeQueued()]],
] as const)(
  'where another one %s, the refusal of one that is over is replaced accordingly',
  (_case, head, told) => {
    const said = { head: headOf(1), state: 'error' as const, description: 'refused: x' };
    const entry = givenEntry(1, { said, readyAt: NOW - 1_000 });
    const landed = [
      { pr: 2, head, at: NOW - 1_000, baseBefore: 'base-0', tree: 'tree-1', mergeCommit: 'merge-1' },
    ];
    const record = givenRecord({ entries: [entry], landed, landedNumbers: [2], tip: 'base-0' });
    const { actions } = decide(givenSnapshot({ pulls: UNKNOWN }), record);
    expect(actions.flatMap((each) => (each.kind === 'post_status' ? [each.description] : []))).toEqual(told);
  },
);
