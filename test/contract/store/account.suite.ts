import { randomUUID } from 'node:crypto';
import { AUDIT_KEPT_MS } from '#core/domain/api-limits.ts';
import type { AuditEntry } from '#core/ports/account-store.ts';
import { givenEvent, givenNodeRow } from '../../builders/store-rows.ts';
import type { World } from './subject.ts';
import { freshPair, kindOf, times } from './subject.ts';

const MINUTE_MS = 60_000;

export function describeAccount(world: World): void {
  const save = async (
    batches: Parameters<typeof givenNodeRow>[0][],
    events: Parameters<typeof givenEvent>[0][],
    enrolled?: Awaited<ReturnType<World['enroll']>>,
  ) => {
    const { repo } = enrolled ?? (await world.enroll());
    const held = await world.hold(repo.id);
    const owner = { tenantId: repo.tenantId, repoId: repo.id };
    const expected = await world.store().loadQueueRecord(repo.id);
    await world.store().saveQueue(held, repo, {
      document: {},
      expectedVersion: expected?.version ?? null,
      batches: batches.map((each) => givenNodeRow({ id: randomUUID(), ...owner, ...each })),
      events: events.map((each) => givenEvent({ ...owner, ...each })),
    });
    return repo;
  };

  describe('the wish of an author', () => {
    const FORGE = 'https://git.example.org';
    const wishOf = (tenantId: string, login: string) => ({
      tenantId,
      person: null,
      instanceUrl: FORGE,
      login,
      email: `${login}@example.org`,
      topics: ['bounced', 'landed'] as const,
      provenAt: 5,
    });
    const given = async () => {
      const { tenantId } = (await world.enroll()).repo;
      const wish = wishOf(tenantId, `Ann-${tenantId.slice(0, 8)}`);
      expect(await world.store().saveAuthorNotices(wish, 9)).toBe(true);
      return { tenantId, wish, find: () => world.store().findAuthorNotices(FORGE, wish.login.toLowerCase()) };
    };

    test('is found by forge and login, in any spelling, and goes with its tenant', async () => {
      const { tenantId, wish, find } = await given();
      expect(await find()).toEqual(wish);
      expect(await world.store().findAuthorNotices(`${FORGE}/`, wish.login)).toEqual(wish);
      expect(await world.store().findAuthorNotices('https://other.example.org', wish.login)).toBeNull();
      expect(await world.store().listAuthorNotices(tenantId)).toEqual([wish]);
      expect(await world.store().listAuthorNotices(randomUUID())).toEqual([]);
      await world.store().deleteHistory(tenantId, 'authors');
      expect([await find(), await world.store().listAuthorNotices(tenantId)]).toEqual([null, []]);
    });

    test('is that of the newest proof, and the one who had it before ends nothing of it', async () => {
      const first = await given();
      const { tenantId } = (await world.enroll()).repo;
      const newer = wishOf(tenantId, first.wish.login);
      await world.store().saveAuthorNotices(newer, 9);
      expect(await first.find()).toEqual(newer);
      await world.store().removeAuthorNotices(first.wish);
      expect(await first.find()).toEqual(newer);
      await world.store().removeAuthorNotices(newer);
      expect(await first.find()).toBeNull();
    });

    test('is not stored of a tenant that is not there or leaves', async () => {
      const { tenantId, wish } = await given();
      expect(await world.store().saveAuthorNotices(wishOf(randomUUID(), 'bob'), 9)).toBe(false);
      await world.store().markTenantDeleting(tenantId);
      expect(await world.store().saveAuthorNotices(wish, 9)).toBe(false);
    });
  });

  describe('tenants and plans', () => {
    test('a tenant counts what it has, and a second sign-in changes nothing', async () => {
      const { repo } = await world.enroll();
      await world.store().createTenant(repo.tenantId, 5);
      expect(await world.store().loadTenant(repo.tenantId)).toMatchObject({
        id: repo.tenantId,
        connections: 1,
        repos: 1,
        deleting: false,
      });
      expect(await world.store().loadTenant(randomUUID())).toBeNull();
    });

    test('nothing is created for a tenant that is being deleted (D-62)', async () => {
      const { repo, connection } = await world.enroll();
      expect(await world.store().markTenantDeleting(repo.tenantId)).toBe(true);
      expect(await world.store().markTenantDeleting(randomUUID())).toBe(false);
      const fresh = freshPair();
      const theirs = { ...fresh.connection, tenantId: repo.tenantId };
      expect(await kindOf(world.store().createConnection(theirs, 5))).toBe('lost_race');
      const more = { ...repo, id: randomUUID(), slug: 'acme/more', connectionId: connection.id };
      expect(await kindOf(world.store().createRepo(more, 5))).toBe('lost_race');
      await world.store().deleteRepo(repo);
      await world.store().deleteTenant(repo.tenantId);
      expect(await world.store().loadTenant(repo.tenantId)).toBeNull();
    });

    test('of 20 connections at once under a ceiling of 3 exactly 3 are made; a taken identity is said first', async () => {
      const { connection } = freshPair();
      await world.store().createTenant(connection.tenantId, 1);
      const results = await Promise.all(
        times(20, (index) =>
          world
            .store()
            .createConnection(
              { ...connection, id: `${connection.id}-${index}`, botUsername: `bot-${index}` },
              3,
            ),
        ),
      );
      expect(results.filter((result) => result === 'created')).toHaveLength(3);
      expect(results.filter((result) => result === 'limit_reached')).toHaveLength(17);
      const winner = results.indexOf('created');
      const again = { ...connection, id: randomUUID(), botUsername: `bot-${winner}` };
      expect(await world.store().createConnection(again, 3)).toMatchObject({ takenBy: connection.tenantId });
    });

    test('a plan is read back; a tenant that bought nothing has none', async () => {
      const tenantId = randomUUID();
      expect(await world.store().loadPlan(tenantId)).toBeNull();
      await world.store().savePlan(tenantId, { tier: 'pro', status: 'past_due' });
      expect(await world.store().loadPlan(tenantId)).toEqual({ tier: 'pro', status: 'past_due' });
      expect(await world.store().deletePlan(tenantId)).toBe(true);
      expect(await world.store().deletePlan(tenantId)).toBe(false);
    });
  });

  describe('history', () => {
    test('the audit log is read newest first and deleted whole', async () => {
      const tenantId = randomUUID();
      const entries = times(4, (index) => ({
        id: randomUUID(),
        tenantId,
        at: index,
        actor: tenantId,
        action: 'repo.update',
        target: 'x',
        result: 'ok' as const,
        from: index === 0 ? null : '2001:db8:0:1::/64',
      }));
      await world.store().appendAudit({ ...entries[0], id: randomUUID() } as AuditEntry);
      expect(await world.store().listAudit(tenantId, 3)).toEqual([]);
      await world.store().createTenant(tenantId, 1);
      for (const entry of entries) await world.store().appendAudit(entry);
      expect(await world.store().listAudit(tenantId, 3)).toEqual([...entries].reverse().slice(0, 3));
      await world.store().markTenantDeleting(tenantId);
      expect(await world.store().deleteHistory(tenantId, 'audit')).toBe(4);
      // A note that comes late would be the one row that stays of the tenant (A100).
      for (const entry of entries) await world.store().appendAudit(entry);
      expect(await world.store().listAudit(tenantId, 3)).toEqual([]);
    });

    test('the notes of a tenant that leaves are kept without an id of it, and keeping them again is the same', async () => {
      const tenantId = randomUUID();
      await world.store().createTenant(tenantId, 1);
      const now = world.clock.now();
      const entryAt = (at: number, actor: string): AuditEntry => ({
        id: randomUUID(),
        tenantId,
        at,
        actor,
        action: 'repo.update',
        target: `repo-${at}`,
        result: 'ok',
        from: '198.51.100.7',
      });
      await world.store().appendAudit(entryAt(now - AUDIT_KEPT_MS - 1, tenantId));
      await world.store().appendAudit(entryAt(now - 2, tenantId));
      await world.store().appendAudit(entryAt(now - 1, 'another_tenant'));
      await world.store().keepAudit(tenantId);
      await world.store().keepAudit(tenantId);
      const kept = await world.store().listKeptAudit(tenantId);
      expect(kept.map(({ at, actor, action }) => [at - now, actor, action])).toEqual([
        [0, 'tenant', 'tenant.erased'],
        [-1, 'another_tenant', 'repo.update'],
        [-2, 'tenant', 'repo.update'],
      ]);
      expect(JSON.stringify(kept)).not.toMatch(new RegExp(`${tenantId}|repo-|198\\.`));
      expect(await world.store().listKeptAudit(tenantId, `repo-${now - 2}`)).toEqual(kept.slice(2));
      expect(await world.store().listKeptAudit(randomUUID())).toEqual([]);
      await world.clock.advance(AUDIT_KEPT_MS);
      expect(await world.store().listKeptAudit(tenantId)).toEqual([]);
    });

    test('a sign-in is noted once, and not for a tenant that is gone or going', async () => {
      const tenantId = randomUUID();
      const entry: AuditEntry = {
        id: randomUUID(),
        tenantId,
        at: 7,
        actor: tenantId,
        action: 'session.start',
        target: tenantId,
        result: 'ok',
        from: '198.51.100.7',
      };
      expect(await world.store().appendSignIn(entry)).toBe(false);
      await world.store().createTenant(tenantId, 1);
      expect(await world.store().appendSignIn(entry)).toBe(true);
      expect(await world.store().appendSignIn({ ...entry, from: '203.0.113.9' })).toBe(true);
      expect(await world.store().listAudit(tenantId, 3)).toEqual([entry]);
      await world.store().markTenantDeleting(tenantId);
      expect(await world.store().appendSignIn({ ...entry, id: randomUUID() })).toBe(false);
    });

    test('the sign-ins of a person are found behind all other notes, newest first, as far as is looked', async () => {
      const tenantId = randomUUID();
      await world.store().createTenant(tenantId, 1);
      const noteAt = (at: number, action: string, actor: string): AuditEntry => ({
        id: randomUUID(),
        tenantId,
        at,
        actor,
        action,
        target: tenantId,
        result: 'ok',
        from: null,
      });
      const own = [1, 2, 5].map((at) => noteAt(at, 'session.start', 'ada'));
      const others = times(40, (at) => noteAt(10 + at, 'repo.update', 'ada'));
      const theirs = noteAt(3, 'session.start', 'bob');
      for (const entry of [...own, ...others, theirs]) await world.store().appendAudit(entry);
      const search = { person: 'ada', since: 2, limit: 9, scannedMax: 1_000 };
      const timesOf = async (more: Partial<typeof search>) =>
        (await world.store().listSignIns(tenantId, { ...search, ...more })).map(({ at }) => at);
      expect(await world.store().listSignIns(tenantId, search)).toEqual([own[2], own[1]]);
      expect(await timesOf({ since: 0 })).toEqual([5, 2, 1]);
      expect(await timesOf({ limit: 1 })).toEqual([5]);
      expect(await timesOf({ scannedMax: 41 })).toEqual([5]);
      expect(await timesOf({ scannedMax: 40 })).toEqual([]);
      expect(await timesOf({ person: 'bob' })).toEqual([3]);
      expect(await timesOf({ person: 'eve' })).toEqual([]);
    });

    test('batches come newest first, with the place where the older ones begin exactly when some were left out', async () => {
      const now = world.clock.now();
      const repo = await save(
        times(4, (index) => ({ createdAt: now + index })),
        [],
      );
      const read = (limit: number, before: string | null) =>
        world.store().readBatchHistory(repo.tenantId, { limit, before, repoIds: null, scannedMax: 1 });
      const three = await read(3, null);
      expect(three.batches.map((row) => row.createdAt - now)).toEqual([3, 2, 1]);
      expect(three.errors).toEqual([]);
      const rest = await read(3, three.next);
      expect([rest.batches.map((row) => row.createdAt - now), rest.next]).toEqual([[0], null]);
      expect(await read(4, null)).toMatchObject({ next: null });
    });

    test.each([3, 100])(
      'batches of some repositories come in pages, each once; no place names a row of another one, also where a page ends after %i rows',
      async (scannedMax) => {
        const now = world.clock.now();
        // Each time has one of the repository between two of another: a place of that time may leave none of them out.
        const hiddenAs = (id: string) =>
          times(5, (index) => ({ id: `${id}-hidden-${index}`, createdAt: now + index, repoId: 'another' }));
        const shown = times(5, (index) => ({
          id: `m-${index}`,
          createdAt: now + index,
          prs: [index + 1],
        }));
        const repo = await save([...hiddenAs('a'), ...shown, ...hiddenAs('z')], []);
        const seen: number[] = [];
        const places: string[] = [];
        let reads = 0;
        for (let before: string | null | undefined; before !== null && reads < 30; reads += 1) {
          const { batches, next } = await world.store().readBatchHistory(repo.tenantId, {
            limit: 2,
            before: before ?? null,
            repoIds: ['not-there', repo.id],
            scannedMax,
          });
          seen.push(...batches.flatMap(({ prs }) => prs));
          if (next !== null) places.push(next);
          before = next;
        }
        expect(seen).toEqual([5, 4, 3, 2, 1]);
        expect(places.join(' ')).not.toContain('hidden');
        for (const place of places) expect(place).toMatch(/^[\w-]{16,79}$/);
      },
    );

    test('a page of some repositories that ends among rows of others goes on from their time, and names none', async () => {
      const now = world.clock.now();
      const hidden = times(5, (index) => ({
        id: `hidden-${index}`,
        createdAt: now + 1,
        repoId: 'another',
      }));
      const repo = await save([{ id: 'oldest', createdAt: now }, ...hidden], []);
      const search = { limit: 2, before: null, repoIds: [repo.id], scannedMax: 3 };
      const first = await world.store().readBatchHistory(repo.tenantId, search);
      expect([first.batches, first.next]).toEqual([[], `${String(now + 2).padStart(14, '0')}_-`]);
      const more = { ...search, before: first.next, scannedMax: 6 };
      const second = await world.store().readBatchHistory(repo.tenantId, more);
      expect(second.batches.map(({ id }) => id)).toEqual(['oldest']);
      const none = await world.store().readBatchHistory(repo.tenantId, { ...search, repoIds: [] });
      expect(none).toEqual({ batches: [], errors: [], next: null });
    });

    test('events of one repository come in pages, each once, however many others of its tenant lie between', async () => {
      const now = world.clock.now();
      const repo = await save(
        [],
        times(8, (index) => ({
          at: now + index,
          pr: index + 1,
          ...(index % 2 === 0 ? {} : { repoId: 'zz' }),
        })),
      );
      await save([], [{ at: now + 20, pr: 99 }]);
      const seen: (readonly [prs: readonly number[], isMore: boolean])[] = [];
      for (let before: string | null | undefined; before !== null; ) {
        const search = { wanted: () => true, limit: 3, scannedMax: 100, before: before ?? null };
        const { events, next } = await world.store().readEventHistory(repo, search);
        seen.push([events.map(({ pr }) => pr), next !== null]);
        before = next;
      }
      expect(seen).toEqual([
        [[7, 5, 3], true],
        [[1], false],
      ]);
    });

    test.each(['!before', '~after'])(
      'a page ends after so many rows, at one of the repository %j too, loses none of the same time and names no other repository',
      async (repoId) => {
        const at = world.clock.now();
        const repo = await save(
          [],
          [
            ...times(3, (index) => ({ at, pr: index + 1 })),
            ...times(5, () => ({ at, pr: 50, repoId })),
            { at: at + 1, pr: 9 },
          ],
        );
        const seen: number[] = [];
        const cursors: string[] = [];
        let reads = 0;
        for (let before: string | null | undefined; before !== null && reads < 20; reads += 1) {
          const search = { wanted: () => true, limit: 10, scannedMax: 2, before: before ?? null };
          const { events, next } = await world.store().readEventHistory(repo, search);
          seen.push(...events.map(({ pr }) => pr));
          if (next !== null) cursors.push(next);
          before = next;
        }
        expect(seen).toEqual([9, 3, 2, 1]);
        expect(cursors.filter((cursor) => !/^\d{26}$/.test(cursor))).toEqual([]);
        expect(reads).toBeGreaterThan(1);
      },
    );

    test('what is wanted of the events of a repository is counted, and nothing else', async () => {
      const at = world.clock.now();
      const repo = await save(
        [],
        times(6, (index) => ({ at: at + index, pr: (index % 2) + 1 })),
      );
      const search = {
        wanted: ({ pr }: { pr: number }) => pr === 2,
        limit: 2,
        scannedMax: 100,
        before: null,
      };
      const { events, next } = await world.store().readEventHistory(repo, search);
      expect(events.map((event) => event.at - at)).toEqual([5, 3]);
      const rest = await world.store().readEventHistory(repo, { ...search, before: next });
      expect([rest.events.map((event) => event.at - at), rest.next]).toEqual([[1], null]);
    });

    test('counts are whole or null, and begin exactly at their time', async () => {
      const now = world.clock.now();
      const repo = await save(
        [{ createdAt: now - 1 }, { createdAt: now }, { createdAt: now + 1 }],
        [
          { at: now - 1 },
          { at: now, event: 'pr_bounced' as const, pr: 2 },
          { at: now + 1, event: 'pr_queued', pr: 3, scheduledAt: now - 5 },
        ],
      );
      expect(await world.store().readEventsSince(repo.tenantId, now, 2)).toEqual([
        { at: now, event: 'pr_bounced', repoId: repo.id, pr: 2 },
        { at: now + 1, event: 'pr_queued', repoId: repo.id, pr: 3, scheduledAt: now - 5 },
      ]);
      expect(await world.store().readEventsSince(repo.tenantId, now, 1)).toBeNull();
      expect(await world.store().readBatchesSince(repo.tenantId, now, 2)).toHaveLength(2);
      expect(await world.store().readBatchesSince(repo.tenantId, now - 1, 2)).toBeNull();
    });

    test('the mark of what ended a pull request, for those that ended', async () => {
      const repo = await save([], [{ pr: 1 }, { pr: 2, event: 'pr_bounced' }, { pr: 3, event: 'pr_staged' }]);
      const wanted = times(4, (index) => ({ repoId: repo.id, pr: index + 1 }));
      const marks = await world.store().readTerminals(wanted);
      expect(marks.map((mark) => [mark.pr, mark.event]).sort()).toEqual([
        [1, 'landed'],
        [2, 'bounced'],
      ]);
      expect(await world.store().readTerminals([])).toEqual([]);
    });

    test('one read gives the outcomes of all repos of a tenant', async () => {
      const { repo } = await world.enroll();
      expect([...(await world.store().listOutcomes(repo.tenantId))]).toEqual([]);
      const outcome = { ranAt: 3, ok: false, errorCode: 'timeout' } as const;
      await world.store().saveReconcileOutcome(repo, outcome);
      expect([...(await world.store().listOutcomes(repo.tenantId))]).toEqual([[repo.id, outcome]]);
    });
  });

  describe('the organization', () => {
    test('is made with its tenant, once, and goes before it', async () => {
      const id = randomUUID();
      const store = world.store();
      expect(await store.loadOrganization(id)).toBeNull();
      await Promise.all([1, 2, 3].map((at) => store.createTenant(id, at)));
      const made = await store.loadOrganization(id);
      expect(made).toEqual({ id, ownerTenantId: id, name: 'Personal', createdAt: expect.any(Number) });
      await store.createTenant(id, 9);
      expect(await store.loadOrganization(id)).toEqual(made);
      expect([await store.deleteOrganization(id), await store.deleteOrganization(id)]).toEqual([true, false]);
      expect(await store.loadTenant(id)).toMatchObject({ id });
    });

    test('nothing of a tenant that leaves comes back', async () => {
      const id = randomUUID();
      const store = world.store();
      await store.createTenant(id, 1);
      await store.markTenantDeleting(id);
      await store.deleteOrganization(id);
      await store.createTenant(id, 2);
      expect(await store.loadOrganization(id)).toBeNull();
    });
  });

  describe('the operator', () => {
    test('does not see what is deleted, although it waits for the engine', async () => {
      const mark = randomUUID();
      const { repo, connection } = await world.enroll({ slug: `acme/${mark}` });
      const store = world.store();
      const before = await store.countCredentials();
      await store.buryRepo(repo);
      expect(await store.searchRepos(mark, 0, 9)).toEqual({ repos: [], total: 0, truncated: false });
      expect(await store.getRepo(repo.id)).not.toBeNull();
      await store.markConnectionDeleting(repo.tenantId, connection.id);
      expect((await store.countCredentials()).connections).toBe(before.connections - 1);
      const listed = await store.listAllConnections(10_000);
      expect(listed.map(({ id }) => id)).not.toContain(connection.id);
      expect(await store.getConnection(repo.tenantId, connection.id)).not.toBeNull();
    });

    test('finds repos by any part of their name, in any case, in pages', async () => {
      const mark = randomUUID().slice(0, 8);
      const repos = [];
      for (const name of ['One', 'two', 'three']) {
        repos.push((await world.enroll({ slug: `Acme/${mark}-${name}` })).repo);
      }
      const found = await world.store().searchRepos(`ACME/${mark.toUpperCase()}`, 1, 1);
      expect(found).toMatchObject({ total: 3, truncated: false });
      expect(found.repos.map((repo) => repo.slug)).toEqual([`Acme/${mark}-three`]);
      expect((await world.store().searchRepos(`${mark}-TWO`, 0, 9)).repos).toEqual([repos[1]]);
    });

    test('sees connections without credentials, and counts formats and keys', async () => {
      const before = await world.store().countCredentials();
      const tenants = await world.store().countTenants();
      const { connection } = await world.enroll();
      const heads = await world.store().listAllConnections(1_000_000);
      const mine = heads.find((head) => head.id === connection.id);
      expect(mine).toEqual({
        id: connection.id,
        tenantId: connection.tenantId,
        instanceUrl: connection.instanceUrl,
        botUsername: connection.botUsername,
        createdAt: connection.createdAt,
        updatedAt: connection.updatedAt,
      });
      const after = await world.store().countCredentials();
      expect(after.connections).toBe(before.connections + 1);
      expect(after.formats.get('v3')).toBe((before.formats.get('v3') ?? 0) + 1);
      expect(after.keyVersions.get(1)).toBe((before.keyVersions.get(1) ?? 0) + 1);
      expect(await world.store().countTenants()).toBe(tenants + 1);
    });
  });

  describe('idle looks', () => {
    const memory = {
      tip: 'a'.repeat(40),
      pulls: [{ pr: 7, head: 'b'.repeat(40), updatedAt: 1_000, seenAt: 2_000, readAt: 5_000 }],
      blindUntil: null,
    };

    test('the memory of a look is read back, and goes with the repo', async () => {
      const { repo } = await world.enroll();
      expect(await world.store().loadLook(repo.id)).toBeNull();
      await world.store().saveLook(repo.id, memory);
      await world.store().saveLook(repo.id, { ...memory, blindUntil: 9_000 });
      expect(await world.store().loadLook(repo.id)).toEqual({ ...memory, blindUntil: 9_000 });
      await world.store().deleteRepo(repo);
      expect(await world.store().loadLook(repo.id)).toBeNull();
    });

    test('that the engine is needed is written at most every two minutes, and not set back by a clock that is a little slow', async () => {
      const start = world.clock.now() + 60 * MINUTE_MS;
      await world.store().noteEngineNeeded(start);
      await world.store().noteEngineNeeded(start + 2 * MINUTE_MS - 1);
      expect(await world.store().loadEngineNeededAt()).toBe(start);
      await world.store().noteEngineNeeded(start + 2 * MINUTE_MS);
      await world.store().noteEngineNeeded(start + MINUTE_MS);
      expect(await world.store().loadEngineNeededAt()).toBe(start + 2 * MINUTE_MS);
      // As after a clock that was set back: else no need would be noted until it has caught up.
      await world.store().noteEngineNeeded(start + MINUTE_MS - 1);
      expect(await world.store().loadEngineNeededAt()).toBe(start + MINUTE_MS - 1);
    });
  });

  describe('health', () => {
    test('last tick, tenants of overdue repos, waiting batches, batches of a day', async () => {
      const start = world.clock.now();
      await world.store().recordTick(start);
      expect(await world.store().loadLastTick()).toBe(start);
      const other = await world.enroll({ dueAt: 2_000 });
      const overdue = await world.store().listOverdueTenants(2_001, 1_000);
      expect(overdue).toContain(other.repo.tenantId);
      expect(await world.store().listOverdueTenants(2_000, 1_000)).not.toContain(other.repo.tenantId);
      const since = start + 10 * MINUTE_MS;
      const { tenantId } = other.repo;
      await save(
        [
          { createdAt: since, outcome: 'superseded', phase: null, resolvedAt: since },
          { createdAt: since + 1, phase: 'waiting_merge', phaseSince: since + 7 },
          { createdAt: since + 2, phase: 'waiting_merge' },
          { createdAt: since - 1 },
        ],
        [],
        other,
      );
      expect(await world.store().countBatchesSince(since)).toEqual({ total: 3, superseded: 1 });
      const waiting = await world.store().listWaitingBatches(1_000);
      const told = waiting.filter((batch) => batch.tenantId === tenantId);
      expect(told).toEqual([
        { tenantId, phase: 'waiting_gate', createdAt: since - 1, phaseSince: null },
        { tenantId, phase: 'waiting_merge', createdAt: since + 1, phaseSince: since + 7 },
        { tenantId, phase: 'waiting_merge', createdAt: since + 2, phaseSince: null },
      ]);
    });
  });

  describe('rates', () => {
    test('a bucket gives its burst at once, then one per interval', async () => {
      const bucket = randomUUID();
      const take = () => world.store().takeToken(bucket, 1_000, 3);
      for (let taken = 0; taken < 3; taken += 1) expect(await take()).toEqual({ allowed: true });
      expect(await take()).toEqual({ allowed: false, retryAfterMs: 1_000 });
      await world.clock.advance(999);
      expect(await take()).toEqual({ allowed: false, retryAfterMs: 1 });
      await world.clock.advance(1);
      expect(await take()).toEqual({ allowed: true });
      expect(await take()).toMatchObject({ allowed: false });
      await world.clock.advance(60_000);
      for (let taken = 0; taken < 3; taken += 1) expect(await take()).toEqual({ allowed: true });
      expect(await world.store().takeToken(randomUUID(), 1_000, 1)).toEqual({ allowed: true });
    });

    test.each([
      [
        'further ahead than its calls can have moved it, as after a clock that was set back, is full',
        3_600_000,
        3,
      ],
      [
        'a little further ahead, as after a call of a machine whose clock is fast, is as empty as it seems',
        5_000,
        0,
      ],
    ])('a bucket that lies %s', async (_name, beforeMs, left) => {
      const bucket = randomUUID();
      for (let taken = 0; taken < 3; taken += 1) await world.store().takeToken(bucket, beforeMs, 3);
      let allowed = 0;
      for (let taken = 0; taken < 4; taken += 1)
        if ((await world.store().takeToken(bucket, 1_000, 3)).allowed) allowed += 1;
      expect(allowed).toBe(left);
    });

    test('30 requests at once get exactly the burst', async () => {
      const bucket = randomUUID();
      const answers = await Promise.all(times(30, () => world.store().takeToken(bucket, 1_000, 10)));
      expect(answers.filter((answer) => answer.allowed)).toHaveLength(10);
    });
  });

  describe('realtime', () => {
    test('a ticket works once, for one of 50, and not after its time (A93)', async () => {
      const hash = randomUUID();
      await world.store().saveTicket(hash, 'tenant-r', world.clock.now() + 30_000);
      const redeemed = await Promise.all(times(50, () => world.store().redeemTicket(hash)));
      expect(redeemed.filter((tenant) => tenant === 'tenant-r')).toHaveLength(1);
      expect(redeemed.filter((tenant) => tenant === null)).toHaveLength(49);
      const late = randomUUID();
      await world.store().saveTicket(late, 'tenant-r', world.clock.now() + 30_000);
      await world.clock.advance(30_000);
      expect(await world.store().redeemTicket(late)).toBeNull();
    });

    test('sockets of one tenant, while they live', async () => {
      const tenantId = randomUUID();
      const ids = [randomUUID(), randomUUID()].sort();
      for (const id of ids) await world.store().addSocket(tenantId, id, world.clock.now() + 1_000);
      expect([...(await world.store().listSockets(tenantId))].sort()).toEqual(ids);
      await world.store().removeSocket(ids[0] ?? '');
      await world.store().removeSocket('no-such-socket');
      await world.store().removeSocketOf(tenantId, 'no-such-socket');
      expect(await world.store().listSockets(tenantId)).toEqual([ids[1]]);
      await world.clock.advance(1_000);
      expect(await world.store().listSockets(tenantId)).toEqual([]);
    });

    test('a person who has stored nothing yet gets a socket, a tenant that is leaving none (A100)', async () => {
      const { tenantId } = (await world.enroll()).repo;
      const end = world.clock.now() + 1_000;
      expect(await world.store().addSocket(randomUUID(), randomUUID(), end)).toBe(true);
      expect(await world.store().addSocket(tenantId, randomUUID(), end)).toBe(true);
      await world.store().markTenantDeleting(tenantId);
      expect(await world.store().addSocket(tenantId, randomUUID(), end)).toBe(false);
      expect(await world.store().listSockets(tenantId)).toHaveLength(1);
    });
  });
}
