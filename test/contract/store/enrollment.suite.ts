import { randomUUID } from 'node:crypto';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { UNPROVISIONED } from '#core/domain/set-up/provisioning.ts';
import { givenConnection } from '../../builders/managed-repo.ts';
import type { World } from './subject.ts';
import { freshPair, kindOf, times } from './subject.ts';

export function describeEnrollment(world: World): void {
  const sibling = (repo: ManagedRepo, index: number): ManagedRepo => ({
    ...repo,
    id: `${repo.id}-${index}`,
    slug: `acme/web-${index}`,
  });

  describe('enrollment', () => {
    test('a repo and its connection are read back as they were written', async () => {
      const { repo, connection } = await world.enroll({ hookId: randomUUID(), batchTarget: 4 });
      const store = world.store();
      const read = await store.getRepo(repo.id);
      expect(read).toEqual(repo);
      expect(read?.webhookSecret?.reveal()).toBe(repo.webhookSecret?.reveal());
      expect(await store.getConnection(repo.tenantId, connection.id)).toEqual(connection);
      expect(await store.getConnection('another-tenant', connection.id)).toBeNull();
      expect(await store.listRepos(repo.tenantId)).toEqual([repo]);
      expect(await store.listConnections(repo.tenantId)).toEqual([connection]);
      expect(await store.listRepos('another-tenant')).toEqual([]);
    });

    test('provisioning is read back as it was written, by an update and by a creation', async () => {
      const provisioned = {
        protectionRequested: true,
        provisioning: {
          webhook: 'registered',
          protection: { kind: 'required', ruleName: 'main', reasons: ['direct_push_allowed'] },
          strayContexts: ['old'],
          lastProvisionedAt: 7,
        },
        ciGate: {
          status: 'awaiting_validation',
          url: 'https://forge.example.org/acme/web/actions/runs/1',
          setupPr: 3,
          probe: { sha: 'a'.repeat(40), branch: 'mq/main/verify-1', gateBlob: 'b'.repeat(40), madeAt: 5 },
        },
      } as const;
      const { repo } = await world.enroll();
      expect(await world.store().getRepo(repo.id)).toMatchObject(UNPROVISIONED);
      await world.store().updateRepo({ ...repo, ...provisioned });
      expect(await world.store().getRepo(repo.id)).toMatchObject(provisioned);
      const born = await world.enroll(provisioned);
      expect(await world.store().listRepos(born.repo.tenantId)).toEqual([born.repo]);
    });

    test('50 tenants create one repo at once: one wins, the others learn who (A58, A101)', async () => {
      const address = `https://${randomUUID()}.example.org`;
      const pairs = await Promise.all(
        times(50, async (index) => {
          const { repo, connection } = freshPair();
          await world.store().createTenant(repo.tenantId, 1);
          await world.store().createConnection(connection);
          const typed = index % 2 === 0 ? address : `${address.toUpperCase()}:443/`;
          return { ...repo, instanceUrl: typed, slug: index % 3 === 0 ? 'Acme/WEB' : 'acme/web' };
        }),
      );
      const answers = await Promise.all(pairs.map((repo) => world.store().createRepo(repo, 5)));
      const winners = pairs.filter((_, index) => answers[index] === 'created');
      expect(winners).toHaveLength(1);
      const losers = answers.filter((answer) => answer !== 'created');
      expect(losers).toEqual(times(49, () => ({ managedBy: winners[0]?.tenantId, id: winners[0]?.id })));
    });

    test('50 tenants store one identity at once: one wins (A58)', async () => {
      const instanceUrl = `https://${randomUUID()}.example.org`;
      const candidates = await Promise.all(
        times(50, async (index) => {
          const tenantId = randomUUID();
          await world.store().createTenant(tenantId, 1);
          const botUsername = index % 2 === 0 ? 'queue-bot' : 'Queue-Bot';
          return givenConnection({ id: randomUUID(), tenantId, instanceUrl, botUsername });
        }),
      );
      const answers = await Promise.all(candidates.map((each) => world.store().createConnection(each)));
      const winners = candidates.filter((_, index) => answers[index] === 'created');
      expect(winners).toHaveLength(1);
      expect(answers.filter((answer) => answer !== 'created')).toEqual(
        times(49, () => ({ takenBy: winners[0]?.tenantId, id: winners[0]?.id })),
      );
    });

    test('a ceiling holds under 30 creations at once; a deletion makes room (E8)', async () => {
      const { repo } = freshPair();
      const store = world.store();
      const { tenantId, connectionId: id, instanceUrl } = repo;
      await store.createTenant(tenantId, 1);
      await store.createConnection(givenConnection({ id, tenantId, instanceUrl }));
      const wanted = times(30, (index) => sibling(repo, index));
      const answers = await Promise.all(wanted.map((each) => store.createRepo(each, 3)));
      expect(answers.filter((answer) => answer === 'created')).toHaveLength(3);
      expect(answers.filter((answer) => answer === 'limit_reached')).toHaveLength(27);
      expect(await store.createRepo(sibling(repo, 99), 3)).toBe('limit_reached');
      const [first] = await store.listRepos(tenantId);
      if (first !== undefined) await Promise.all([store.deleteRepo(first), store.deleteRepo(first)]);
      expect(await store.createRepo(sibling(repo, 98), 3)).toBe('created');
      expect(await store.createRepo(sibling(repo, 97), 3)).toBe('limit_reached');
    });

    test('a refused creation leaves nothing behind', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const taken = { ...repo, id: `${repo.id}-2`, hookId: randomUUID() };
      expect(await store.createRepo(taken, null)).toEqual({ managedBy: repo.tenantId, id: repo.id });
      expect(await store.getRepo(taken.id)).toBeNull();
      expect(await store.findRepoForHook({ hookId: taken.hookId })).toBeNull();
      expect(await store.createRepo(sibling(repo, 1), 2)).toBe('created');
      expect(await store.createRepo(sibling(repo, 2), 2)).toBe('limit_reached');
    });

    test('a branch that is taken is told before a connection that is not there', async () => {
      const { repo } = await world.enroll();
      const again = { ...repo, id: randomUUID(), connectionId: randomUUID() };
      expect(await world.store().createRepo(again, null)).toEqual({ managedBy: repo.tenantId, id: repo.id });
    });

    test('nothing can be created under a tenant or a connection that is not there', async () => {
      const { repo, connection } = freshPair();
      expect(await kindOf(world.store().createConnection(connection))).toBe('lost_race');
      expect(await world.store().createRepo(repo, null)).toBe('connection_gone');
      await world.store().createTenant(repo.tenantId, 1);
      expect(await world.store().createRepo(repo, null)).toBe('connection_gone');
      expect(await world.store().listConnections(repo.tenantId)).toEqual([]);
    });

    test('deleting a connection leaves no repo, also when enrollments race with it (A57)', async () => {
      const { repo, connection } = await world.enroll();
      const store = world.store();
      const { tenantId } = repo;
      expect(await kindOf(store.deleteConnection(tenantId, connection.id))).toBe('lost_race');
      const [, ...answers] = await Promise.all([
        store.markConnectionDeleting(tenantId, connection.id),
        ...times(20, (index) => store.createRepo(sibling(repo, index), null)),
      ]);
      expect(new Set([...answers, 'created', 'connection_gone'])).toEqual(
        new Set(['created', 'connection_gone']),
      );
      const present = await store.listRepos(tenantId);
      expect(present).toHaveLength(1 + answers.filter((answer) => answer === 'created').length);
      expect(await store.createRepo(sibling(repo, 99), null)).toBe('connection_gone');
      for (const each of present) await store.deleteRepo(each);
      await store.deleteConnection(tenantId, connection.id);
      expect(await store.listRepos(tenantId)).toEqual([]);
      expect(await store.listConnections(tenantId)).toEqual([]);
      expect(await store.createConnection({ ...connection, id: randomUUID() })).toBe('created');
      expect(await store.markConnectionDeleting(tenantId, connection.id)).toBe(false);
    });

    test('a rotation swaps the whole credential; of two at once one wins (A59)', async () => {
      const { connection } = await world.enroll();
      const store = world.store();
      const rotated = times(5, (index) => ({
        ...connection,
        updatedAt: connection.updatedAt + 1,
        credential: { ...connection.credential, keyVersion: index + 2, encryptedToken: `token-${index}` },
      }));
      const kinds = await Promise.all(
        rotated.map((next) => kindOf(store.updateConnection(connection, next))),
      );
      expect(kinds.filter((kind) => kind === 'lost_race')).toHaveLength(4);
      const stored = await store.getConnection(connection.tenantId, connection.id);
      expect(rotated[kinds.indexOf(null)]).toEqual(stored);
    });

    test('a change that was read before the data key was re-wrapped is refused, so that it cannot undo that', async () => {
      const { connection } = await world.enroll();
      const store = world.store();
      const { credential } = connection;
      const rewrapped = { ...credential, keyVersion: 2, encryptedDek: 'cmV3cmFwcGVk' };
      expect(await store.updateConnection(connection, { ...connection, credential: rewrapped })).toBe(
        'updated',
      );
      const renamed = { ...connection, botUsername: 'renamed-bot', updatedAt: connection.updatedAt + 1 };
      expect(await kindOf(store.updateConnection(connection, renamed))).toBe('lost_race');
      expect((await store.getConnection(connection.tenantId, connection.id))?.credential).toEqual(rewrapped);
    });

    test('a credential without a data key of its own can be replaced', async () => {
      const { connection } = await world.enroll();
      const store = world.store();
      const old = {
        ...connection,
        credential: { ...connection.credential, format: 'v1', encryptedDek: null },
      };
      expect(await store.updateConnection(connection, old)).toBe('updated');
      expect(await store.updateConnection(old, { ...connection, updatedAt: 9 })).toBe('updated');
    });

    test('a bot can be renamed to a free identity only, which frees the old one', async () => {
      const { connection } = await world.enroll();
      const store = world.store();
      const other = { ...connection, id: randomUUID(), botUsername: 'other-bot' };
      expect(await store.createConnection(other)).toBe('created');
      expect(
        await store.updateConnection(other, { ...other, botUsername: connection.botUsername.toUpperCase() }),
      ).toEqual({
        takenBy: connection.tenantId,
        id: connection.id,
      });
      expect(await store.updateConnection(other, { ...other, botUsername: 'third-bot' })).toBe('updated');
      expect(await store.createConnection({ ...other, id: randomUUID() })).toBe('created');
      await store.markConnectionDeleting(connection.tenantId, connection.id);
      expect(await kindOf(store.updateConnection(connection, connection))).toBe('lost_race');
    });

    test('an update needs the version that was read, and cannot undo a wake', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      await store.markDue(repo.id, world.clock.now());
      const updated = await store.updateRepo({ ...repo, batchTarget: 9 });
      expect(updated).toMatchObject({ version: 2, batchTarget: 9, wakeSeq: 1 });
      expect(await store.getRepo(repo.id)).toEqual(updated);
      expect(await kindOf(store.updateRepo(repo))).toBe('lost_race');
      const kinds = await Promise.all(
        times(10, (index) => kindOf(store.updateRepo({ ...updated, batchTarget: index }))),
      );
      expect(kinds.filter((kind) => kind === null)).toHaveLength(1);
      await expect(store.updateRepo({ ...updated, version: 3, slug: 'acme/moved' })).rejects.toThrow(
        RangeError,
      );
    });

    test('switching the queue off and on leaves and enters the due index', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const off = await store.updateRepo({ ...repo, queueEnabled: false });
      expect(await store.listDueRepos(world.clock.now(), 10_000)).not.toContain(repo.id);
      const on = await store.updateRepo({ ...off, queueEnabled: true });
      expect(on.dueAt).toBe(world.clock.now());
      expect(await store.listDueRepos(world.clock.now(), 10_000)).toContain(repo.id);
      const buried = await store.updateRepo({ ...on, tombstone: true });
      expect(buried.dueAt).toBeNull();
      expect(await store.markDue(repo.id, world.clock.now())).toBeNull();
    });

    test('deleting a repo frees its address and keeps the fence growing', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const held = await world.hold(repo.id);
      await store.deleteRepo({ ...repo, tenantId: 'another-tenant' });
      expect(await store.getRepo(repo.id)).toEqual(repo);
      await store.deleteRepo(repo);
      await store.deleteRepo(repo);
      expect(await store.listRepos(repo.tenantId)).toEqual([]);
      expect(await store.createRepo({ ...repo, id: `${repo.id}-2` }, 1)).toBe('created');
      expect((await world.hold(repo.id)).fence).toBeGreaterThan(held.fence);
    });

    test('unreadable rows are failures, never half-read', async () => {
      const { repo, connection } = await world.enroll({ hookId: randomUUID() });
      const { tenantId, instanceUrl, slug, baseBranch } = repo;
      const store = world.store();
      await world.subject().corrupt('connection', connection);
      expect(await kindOf(store.getConnection(tenantId, connection.id))).toBe('unreadable');
      await world.subject().corrupt('repo', repo);
      expect(await kindOf(store.getRepo(repo.id))).toBe('unreadable');
      expect(await kindOf(store.listRepos(tenantId))).toBe('unreadable');
      expect(await kindOf(store.findRepo({ tenantId, instanceUrl, slug, baseBranch }))).toBe('unreadable');
      expect(await kindOf(store.findRepoForHook({ instanceUrl, slug }))).toBe('unreadable');
      expect(await kindOf(store.updateRepo(repo))).toBe('unreadable');
    });
  });
}
