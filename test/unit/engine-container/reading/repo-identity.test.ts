import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import { emptyRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { RepoIdentity } from '../../../../engine-container/src/reading/repo-identity.ts';
import { takeBackUnrecorded } from '../../../../engine-container/src/reconcile/take-back.ts';

/** A forge in which another repository may have the name, and which does not tell its id at the moment. */
function givenSilentId(): EngineForge {
  const identity = new RepoIdentity();
  identity.begin({ repoId: 1 });
  return identity.guard({
    listOpenPullRequests: async () => [],
    readStatuses: async () => {
      throw new ForgeError('missing', 'GET statuses', 404);
    },
    readRepoId: async () => {
      throw new ForgeError('unreachable', 'GET repo', 502);
    },
    readBranchTip: async () => 'a'.repeat(40),
  } as unknown as EngineForge);
}

test('while the id cannot be read, a repository without a pull request is not known to be the one', async () => {
  await expect(givenSilentId().listOpenPullRequests()).rejects.toThrow(ForgeError);
});

test('while the id cannot be read, nothing is taken for gone', async () => {
  const posted = { pr: 1, sha: 'b'.repeat(40), context: 'mq', state: 'pending', description: 'd' };
  const record = { ...emptyRecord('mq'), pendingStatuses: [posted] } as never;
  expect(await takeBackUnrecorded(givenSilentId(), 'main', [record])).toBe(false);
});
