import { type EngineForge, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import { emptyRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { AnotherRepo, RepoIdentity } from '../../../../engine-container/src/reading/repo-identity.ts';
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

/** A forge whose list fails, and whose call for the id ends so. */
function givenUnlisted(readRepoId: () => Promise<number | null>) {
  const calls: string[] = [];
  const noting =
    <T>(name: string, answer: () => Promise<T>) =>
    () => {
      calls.push(name);
      return answer();
    };
  const forge = new RepoIdentity(1).guard({
    listOpenPullRequests: () => Promise.reject(new ForgeError('unreachable', 'GET pulls', 502)),
    readPullRequest: noting('pull', async () => ({ number: 1, repoId: 1 })),
    readBranchTip: noting('tip', async () => 'a'.repeat(40)),
    readVersion: noting('version', async () => null),
    postStatus: noting('post', async () => undefined),
    readRepoId: noting('id', readRepoId),
  } as unknown as EngineForge);
  return { forge, calls };
}

const post = (forge: EngineForge) =>
  forge.postStatus('b'.repeat(40), { state: 'pending', context: 'mq', description: 'd', targetUrl: null });

describe('after a list that failed', () => {
  test('the id is asked for once, before the first call that would tell of another repository', async () => {
    const { forge, calls } = givenUnlisted(async () => 1);
    await expect(forge.listOpenPullRequests()).rejects.toThrow(ForgeError);
    await forge.readVersion();
    await forge.readBranchTip('main');
    await post(forge);
    expect(calls).toEqual(['version', 'id', 'tip', 'post']);
  });

  test('a pull request that is read shows it as well', async () => {
    const { forge, calls } = givenUnlisted(async () => 1);
    await forge.readPullRequest(1);
    await forge.readBranchTip('main');
    expect(calls).toEqual(['pull', 'tip']);
  });

  test('nothing is read and nothing written where another repository has the name', async () => {
    const { forge, calls } = givenUnlisted(async () => 2);
    await expect(forge.readBranchTip('main')).rejects.toThrow(AnotherRepo);
    await expect(post(forge)).rejects.toThrow(AnotherRepo);
    expect(calls).toEqual(['id', 'id']);
  });

  test.each<[string, ForgeError, readonly string[]]>([
    ['when no read is sent any more', new ReadNotBegun('GET repo'), ['id', 'post', 'id', 'post']],
    ['when the repository does not show', new ForgeError('missing', 'GET repo', 404), ['id', 'post', 'post']],
  ])('a success is taken back %s', async (_case, fault, expected) => {
    const { forge, calls } = givenUnlisted(() => Promise.reject(fault));
    await post(forge);
    await post(forge);
    expect(calls).toEqual(expected);
  });
});
