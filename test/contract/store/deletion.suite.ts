import { randomUUID } from 'node:crypto';
import { LEFT_HEADS_KEPT_MS } from '#core/domain/limits.ts';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import type { World } from './subject.ts';
import { kindOf } from './subject.ts';

export function describeDeletion(world: World): void {
  const again = (repo: ManagedRepo): ManagedRepo => ({ ...repo, id: randomUUID(), hookId: null });

  const addressOf = ({ instanceUrl, slug }: ManagedRepo) => ({ instanceUrl, slug });

  async function store(repo: ManagedRepo, rows: readonly NodeRow[]): Promise<void> {
    const held = await world.hold(repo.id);
    await world
      .store()
      .saveQueue(held, repo, { document: {}, expectedVersion: null, batches: rows, events: [] });
  }

  const rowOf = (repo: ManagedRepo, changes: Partial<NodeRow> = {}): NodeRow =>
    givenNodeRow({ id: randomUUID(), tenantId: repo.tenantId, repoId: repo.id, prs: [4, 7], ...changes });

  describe('deletion', () => {
    test('a repo that is buried is due, and gives its address, its hook and its place back at once', async () => {
      const { repo } = await world.enroll({ hookId: randomUUID() });
      await world.store().buryRepo(repo);
      const buried = await world.store().getRepo(repo.id);
      expect(buried).toMatchObject({
        tombstone: true,
        queueEnabled: false,
        hookId: null,
        webhookSecret: null,
        dueAt: world.clock.now(),
        version: repo.version + 1,
      });
      expect(await world.store().listDueRepos(world.clock.now(), 10_000)).toContain(repo.id);
      expect(await world.store().findRepoForHook({ hookId: repo.hookId ?? '' })).toBeNull();
      expect(await world.store().findRepoForHook(addressOf(repo))).toBeNull();
      expect(await world.store().loadTenant(repo.tenantId)).toMatchObject({ repos: 0 });
      expect(await world.store().createRepo(again(repo), 1)).toBe('created');
      expect(await kindOf(world.store().buryRepo(repo))).toBe('lost_race');
    });

    test('of 20 burials at once one counts', async () => {
      const { repo } = await world.enroll();
      const kinds = await Promise.all(Array.from({ length: 20 }, () => kindOf(world.store().buryRepo(repo))));
      expect(kinds.filter((kind) => kind === null)).toHaveLength(1);
      expect(await world.store().loadTenant(repo.tenantId)).toMatchObject({ repos: 0 });
    });

    test('the end of a burial takes nothing from the repository that has the address by then', async () => {
      const { repo } = await world.enroll();
      const next = again(repo);
      await world.store().buryRepo(repo);
      await world.store().createRepo(next, 1);
      const buried = await world.store().getRepo(repo.id);
      if (buried === null) throw new Error('no tombstone');
      expect(await world.store().listWindDowns(repo)).toEqual([
        expect.objectContaining({ tenantId: repo.tenantId, id: repo.id, at: world.clock.now() }),
      ]);
      expect((await world.store().findRepo(repo))?.id).toBe(repo.id);
      await world.store().deleteRepo(buried);
      expect(await world.store().listWindDowns(repo)).toEqual([]);
      expect((await world.store().findRepo(repo))?.id).toBe(next.id);
      expect((await world.store().findRepoForHook(addressOf(repo)))?.id).toBe(next.id);
      expect(await world.store().loadTenant(repo.tenantId)).toMatchObject({ repos: 1 });
    });

    test('a success that is left standing is told to the next repository of the address, in any spelling, for a time', async () => {
      const { repo } = await world.enroll();
      const left = { context: 'mq', prs: [4], heads: [{ pr: 7, head: 'a'.repeat(40) }] };
      expect(await world.store().listLeftHeads(repo)).toEqual([]);
      await world.store().deleteRepo(repo, left);
      expect(await world.store().listLeftHeads({ ...repo, slug: repo.slug.toUpperCase() })).toEqual([left]);
      expect(await world.store().listLeftHeads({ ...repo, slug: 'acme/other' })).toEqual([]);
      await world.clock.advance(LEFT_HEADS_KEPT_MS);
      expect(await world.store().listLeftHeads(repo)).toEqual([]);
    });

    test('batches that were open are resolved with the rows of their repo, and no others', async () => {
      const { repo } = await world.enroll();
      const other = { ...again(repo), slug: 'acme/other' };
      await world.store().createRepo(other, null);
      const running = rowOf(repo);
      const held = rowOf(repo, { outcome: 'held_success', phase: null, resolvedAt: 5 });
      const done = rowOf(repo, { outcome: 'success', phase: null, resolvedAt: 5 });
      const theirs = rowOf(other);
      await store(repo, [running, held, done]);
      await store(other, [theirs]);
      expect(await world.store().listRunningBatches(repo)).toEqual([running]);
      await world.store().deleteRepo(repo);
      expect(await world.store().listRunningBatches(repo)).toEqual([]);
      expect(await world.store().listRunningBatches(other)).toEqual([theirs]);
      const rows = new Map((await world.store().listBatches(repo.tenantId, 10)).map((row) => [row.id, row]));
      for (const { id } of [running, held]) {
        expect(rows.get(id)).toMatchObject({
          outcome: 'operational_error',
          phase: null,
          terminalReason: 'repo_deleted',
          resolvedAt: world.clock.now(),
          actions: [
            { pr: 4, action: 'requeued' },
            { pr: 7, action: 'requeued' },
          ],
        });
      }
      expect([rows.get(done.id), rows.get(theirs.id)]).toEqual([done, theirs]);
    });

    test('a connection that is being deleted gives its identity and its place back at once', async () => {
      const { repo, connection } = await world.enroll();
      const { tenantId } = repo;
      const marks = await Promise.all(
        Array.from({ length: 5 }, () => world.store().markConnectionDeleting(tenantId, connection.id)),
      );
      expect(marks).toEqual([true, true, true, true, true]);
      expect(await world.store().loadTenant(tenantId)).toMatchObject({ connections: 0 });
      const next = { ...connection, id: randomUUID() };
      expect(await world.store().createConnection(next, 1)).toBe('created');
      await world.store().deleteConnection(tenantId, connection.id);
      expect(await world.store().listConnections(tenantId)).toEqual([next]);
      expect(await world.store().loadTenant(tenantId)).toMatchObject({ connections: 1 });
      expect(await world.store().createConnection({ ...next, id: randomUUID() })).toEqual({
        takenBy: tenantId,
        id: next.id,
      });
    });
  });
}
