import type { ActivityEvent } from '#core/domain/batch.ts';
import { stagedHeads } from '../../../../engine-container/src/queue/rows.ts';
import { givenEvent, givenNodeRow } from '../../../builders/store-rows.ts';

const row = givenNodeRow({ repoId: 'repo-1', prs: [1, 2], createdAt: 100 });
const staged = (changes: Partial<ActivityEvent>): ActivityEvent =>
  givenEvent({ repoId: 'repo-1', event: 'pr_staged', at: 100, pr: 1, head: 'a', ...changes });

test.each<[string, Partial<ActivityEvent>, boolean]>([
  ['staged for an open row', {}, true],
  ['staged later, on another head', { at: 500, head: 'b' }, true],
  ['staged for an earlier batch', { at: 99 }, false],
  ['only queued', { event: 'pr_queued' }, false],
  ['of a pull request that was in none of them', { pr: 3 }, false],
  ['of another repo', { repoId: 'repo-2' }, false],
])('a head %s: %#', (_name, changes, isMeant) => {
  const event = staged(changes);
  expect(stagedHeads([row], [event])).toEqual(isMeant ? [{ pr: event.pr, head: event.head }] : []);
});

test('one that was staged twice is named once', () => {
  expect(stagedHeads([row], [staged({}), staged({ at: 200 }), staged({ pr: 2, head: 'c' })])).toEqual([
    { pr: 1, head: 'a' },
    { pr: 2, head: 'c' },
  ]);
});
