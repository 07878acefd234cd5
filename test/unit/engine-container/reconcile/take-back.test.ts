import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import { emptyRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { RepoIdentity } from '../../../../engine-container/src/reading/repo-identity.ts';
import { takeBackUnrecorded } from '../../../../engine-container/src/reconcile/take-back.ts';

test('where another repository takes the name after the look, nothing is taken back, and nothing is taken for gone', async () => {
  const calls: string[] = [];
  const forge = {
    listOpenPullRequests: async () => [{ number: 1, repoId: 1 }],
    readStatuses: async () => {
      calls.push('readStatuses');
      throw new ForgeError('missing', 'GET statuses', 404);
    },
    readRepoId: async () => 2,
    readBranchTip: async () => 'a'.repeat(40),
  } as unknown as EngineForge;
  const identity = new RepoIdentity();
  identity.begin({ repoId: 1 });
  const sha = 'b'.repeat(40);
  const posted = { pr: 1, sha, context: 'mq', state: 'pending', description: 'd' };
  const record = { ...emptyRecord('mq'), pendingStatuses: [posted, { ...posted, pr: 2 }] } as never;
  const guarded = identity.guard(forge);
  await guarded.listOpenPullRequests();
  expect(await takeBackUnrecorded(guarded, 'main', [record])).toBe(false);
  expect(calls).toEqual(['readStatuses']);
});
