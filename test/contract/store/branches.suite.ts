import { randomUUID } from 'node:crypto';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { givenConnection } from '../../builders/managed-repo.ts';
import type { World } from './subject.ts';
import { freshPair, kindOf, times } from './subject.ts';

export function describeBranches(world: World): void {
  const branchOf = (repo: ManagedRepo, base: string, changes: Partial<ManagedRepo> = {}): ManagedRepo => ({
    ...repo,
    id: randomUUID(),
    baseBranch: base,
    statusContext: `mq/${base}`,
    hookId: null,
    webhookSecret: null,
    ...changes,
  });

  const idsAt = async (repo: ManagedRepo): Promise<readonly string[]> =>
    (await world.store().listReposAt(repo)).map(({ id }) => id);

  describe('several branches of one repository', () => {
    test('one tenant may have them, each found by its own base, and the same one twice is refused', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const release = branchOf(repo, 'v15');
      expect(await store.createRepo(release, null)).toBe('created');
      expect(await idsAt(repo)).toEqual([repo.id, release.id]);
      expect((await store.findRepo(repo))?.id).toBe(repo.id);
      expect((await store.findRepo(release))?.id).toBe(release.id);
      expect(await store.findRepo({ ...repo, baseBranch: 'v16' })).toBeNull();
      const again = branchOf(repo, 'v15', { statusContext: 'other' });
      expect(await store.createRepo(again, null)).toEqual({ managedBy: repo.tenantId, id: release.id });
    });

    test('another tenant gets none of them', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const stranger = freshPair({
        instanceUrl: repo.instanceUrl,
        baseBranch: 'v15',
        statusContext: 'other',
      });
      await store.createTenant(stranger.repo.tenantId, 1);
      await store.createConnection({ ...stranger.connection, botUsername: 'stranger' });
      expect(await store.createRepo(stranger.repo, null)).toEqual({ managedBy: repo.tenantId, id: repo.id });
    });

    test('two of them never have one context, by enrollment or by a change (A124)', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const shared = branchOf(repo, 'v15', { statusContext: repo.statusContext.toUpperCase() });
      expect(await store.createRepo(shared, null)).toEqual({ contextOf: repo.id });
      const release = branchOf(repo, 'v15');
      expect(await store.createRepo(release, null)).toBe('created');
      expect(await kindOf(store.updateRepo({ ...release, statusContext: repo.statusContext }))).toBe(
        'lost_race',
      );
      expect((await store.getRepo(release.id))?.statusContext).toBe('mq/v15');
      await store.updateRepo({ ...repo, statusContext: 'mq/main' });
      const third = branchOf(repo, 'v14', { statusContext: repo.statusContext });
      expect(await store.createRepo(third, null)).toBe('created');
      const fourth = branchOf(repo, 'v13', { statusContext: 'mq/main' });
      expect(await store.createRepo(fourth, null)).toEqual({ contextOf: repo.id });
    });

    test('twenty at once under one context: one wins', async () => {
      const { repo, connection } = freshPair();
      const store = world.store();
      await store.createTenant(repo.tenantId, 1);
      await store.createConnection(connection);
      const wanted = times(20, (index) => branchOf(repo, `v${index}`, { statusContext: 'mq' }));
      const answers = await Promise.all(wanted.map((each) => store.createRepo(each, null)));
      const winner = wanted[answers.indexOf('created')];
      expect(answers.filter((answer) => answer === 'created')).toHaveLength(1);
      expect(answers.filter((answer) => answer !== 'created')).toEqual(
        times(19, () => ({ contextOf: winner?.id })),
      );
    });

    test('one that is deleted leaves the others their address; its branch and its context are free', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const release = branchOf(repo, 'v15');
      await store.createRepo(release, null);
      await store.buryRepo(repo);
      expect(await idsAt(repo)).toEqual([release.id]);
      expect((await store.findRepo(repo))?.id).toBe(repo.id);
      expect((await store.findRepo(release))?.id).toBe(release.id);
      expect(await store.listWindDowns(release)).toEqual([
        {
          tenantId: repo.tenantId,
          id: repo.id,
          at: world.clock.now(),
          baseBranch: repo.baseBranch,
          statusContext: repo.statusContext,
        },
      ]);
      const next = branchOf(repo, repo.baseBranch, { statusContext: repo.statusContext });
      expect(await store.createRepo(next, null)).toBe('created');
      const buried = await store.getRepo(repo.id);
      if (buried === null) throw new Error('no tombstone');
      await store.deleteRepo(buried);
      expect(await idsAt(repo)).toEqual([release.id, next.id]);
      expect(await store.loadTenant(repo.tenantId)).toMatchObject({ repos: 2 });
      await store.deleteRepo(release);
      await store.deleteRepo(next);
      expect(await idsAt(repo)).toEqual([]);
      expect(await store.createRepo(branchOf(repo, 'v15'), 1)).toBe('created');
    });

    test('a success that is left standing is told to the next repository of its own branch alone', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const left = { context: 'mq', prs: [4], heads: [] };
      await store.deleteRepo(repo, left);
      expect(await store.listLeftHeads(branchOf(repo, 'v15'))).toEqual([]);
      expect(await store.listLeftHeads(repo)).toEqual([left]);
    });

    test('the hook of one that is deleted is another one’s from then on, with its secret as it is sealed', async () => {
      const hookId = randomUUID();
      const { repo } = await world.enroll({ hookId });
      const store = world.store();
      const polled = branchOf(repo, 'v14', { wakeupMode: 'poll' });
      const release = branchOf(repo, 'v15', { wakeupMode: 'webhook' });
      await store.createRepo(polled, null);
      await store.createRepo(release, null);
      await store.buryRepo(repo);
      const heir = await store.getRepo(release.id);
      expect(heir).toMatchObject({ hookId, webhookSecretOf: repo.id, version: release.version + 1 });
      expect(heir?.webhookSecret?.reveal()).toBe(repo.webhookSecret?.reveal());
      expect((await store.findRepoForHook({ hookId }))?.id).toBe(release.id);
      await store.deleteRepo(heir ?? release);
      expect(await store.getRepo(polled.id)).toMatchObject({ hookId, webhookSecretOf: repo.id });
      expect((await store.findRepoForHook({ hookId }))?.id).toBe(polled.id);
    });

    test('a repo found by its address alone is one that has a secret', async () => {
      const { repo, connection } = freshPair({ webhookSecret: null });
      const store = world.store();
      await store.createTenant(repo.tenantId, 1);
      await store.createConnection(givenConnection(connection));
      await store.createRepo(repo, null);
      const release = branchOf(repo, 'v15', { webhookSecret: freshPair().repo.webhookSecret });
      await store.createRepo(release, null);
      const { instanceUrl, slug } = repo;
      expect((await store.findRepoForHook({ instanceUrl, slug }))?.id).toBe(release.id);
    });
  });
}
