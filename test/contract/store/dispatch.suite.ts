import { randomUUID } from 'node:crypto';
import { duePartition } from '#core/adapters/dynamo/rows/keys.ts';
import { DELIVERY_ID_KEPT_MS } from '#core/domain/limits.ts';
import type { ReconcileOutcome } from '#core/domain/repos/repo.ts';
import { HEARD_NOTED_EVERY_MS } from '#core/domain/wakes/heard-events.ts';
import type { World } from './subject.ts';
import { kindOf, times } from './subject.ts';

export function describeDispatch(world: World): void {
  /** The due index is shared by all tests: each looks only for the repos it made. */
  const dueAmong = async (ids: readonly string[]): Promise<readonly string[]> =>
    (await world.store().listDueRepos(world.clock.now(), 10_000)).filter((id) => ids.includes(id));

  describe('due', () => {
    test('due repos are listed oldest first, and only enabled ones (A50)', async () => {
      const now = world.clock.now();
      const ages = [10, 50, 30, 20, 40];
      const made = await Promise.all(ages.map((age) => world.enroll({ dueAt: now - age })));
      const later = await world.enroll({ dueAt: now + 1 });
      const off = await world.enroll({ queueEnabled: false });
      const ids = [...made, later, off].map(({ repo }) => repo.id);
      const oldestFirst = [1, 4, 2, 3, 0].map((index) => made[index]?.repo.id);
      expect(await dueAmong(ids)).toEqual(oldestFirst);
      expect((await world.store().getRepo(off.repo.id))?.dueAt).toBeNull();
      await world.clock.advance(1);
      expect(await dueAmong(ids)).toEqual([...oldestFirst, later.repo.id]);
    });

    test('the limit cuts off the youngest, also where one shard holds all of the oldest (A50)', async () => {
      const dueAt = 1_000;
      const made: string[] = [];
      while (made.length < 6) {
        const id = randomUUID();
        if (duePartition(id) !== duePartition(made[0] ?? id)) continue;
        await world.enroll({ id, dueAt: dueAt + made.length * 100 });
        made.push(id);
      }
      expect(await world.store().listDueRepos(dueAt + 10_000, 3)).toEqual(made.slice(0, 3));
      expect(await world.store().listDueRepos(dueAt + 10_000, 0)).toEqual([]);
      for (const id of made) {
        const repo = await world.store().getRepo(id);
        if (repo !== null) await world.store().deleteRepo(repo);
      }
    });

    test('50 wakes at once are all counted (E9)', async () => {
      const { repo } = await world.enroll({ dueAt: world.clock.now() + 60_000 });
      const counts = await Promise.all(times(50, () => world.store().markDue(repo.id, world.clock.now())));
      expect([...counts].sort((a, b) => Number(a) - Number(b))).toEqual(times(50, (index) => index + 1));
      expect(await world.store().getRepo(repo.id)).toMatchObject({
        wakeSeq: 50,
        dueAt: world.clock.now(),
      });
    });

    test('a later wake leaves an earlier due time: the repo keeps its place in the queue (A50)', async () => {
      const early = world.clock.now() - 5_000;
      const { repo } = await world.enroll({ dueAt: early });
      expect(await world.store().markDue(repo.id, world.clock.now())).toBe(1);
      expect(await world.store().getRepo(repo.id)).toMatchObject({ wakeSeq: 1, dueAt: early });
    });

    test('a wake during a run is noticed when the run settles (E9)', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const next = world.clock.now() + 300_000;
      await store.markDue(repo.id, world.clock.now());
      const seen = (await store.getRepo(repo.id))?.wakeSeq ?? -1;
      const woken = await store.markDue(repo.id, world.clock.now());
      expect(await store.settleDue(repo.id, seen, next)).toBe(false);
      expect(await dueAmong([repo.id])).toEqual([repo.id]);
      expect(await store.settleDue(repo.id, woken ?? -1, next)).toBe(true);
      expect(await dueAmong([repo.id])).toEqual([]);
      expect((await store.getRepo(repo.id))?.dueAt).toBe(next);
    });

    test('wakes that race with a settling run are never lost', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const now = world.clock.now();
      for (let round = 0; round < 10; round += 1) {
        const seen = (await store.getRepo(repo.id))?.wakeSeq ?? -1;
        await Promise.all([
          store.settleDue(repo.id, seen, now + 300_000),
          store.markDue(repo.id, now),
          store.markDue(repo.id, now),
        ]);
        expect(await store.getRepo(repo.id)).toMatchObject({ wakeSeq: seen + 2 });
        expect((await store.getRepo(repo.id))?.dueAt).toBeLessThanOrEqual(now);
      }
    });

    test('a disabled or deleted repo cannot be woken and has nothing to settle', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const off = await store.updateRepo({ ...repo, queueEnabled: false });
      expect(off.dueAt).toBeNull();
      expect(await store.markDue(repo.id, world.clock.now())).toBeNull();
      expect(await store.settleDue(repo.id, 0, world.clock.now())).toBe(true);
      expect(await dueAmong([repo.id])).toEqual([]);
      await store.deleteRepo(off);
      expect(await store.markDue(repo.id, world.clock.now())).toBeNull();
      expect(await store.settleDue(repo.id, 0, world.clock.now())).toBe(true);
      expect(await store.getRepo(repo.id)).toBeNull();
    });
  });

  describe('a last look (D-24)', () => {
    test('a queue that goes off with one stays due, can be woken and settled, and sleeps once it is settled off', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const now = world.clock.now();
      const off = await store.updateRepo({ ...repo, queueEnabled: false }, { lastLook: true });
      expect([off.dueAt, (await store.getRepo(repo.id))?.dueAt]).toEqual([now, now]);
      expect(await dueAmong([repo.id])).toEqual([repo.id]);
      const seq = await store.markDue(repo.id, now);
      expect(seq).toBe(repo.wakeSeq + 1);
      expect(await store.settleDue(repo.id, seq ?? 0, now + 10_000)).toBe(true);
      // Another setting of a queue that is off leaves the look as it is.
      const tuned = await store.updateRepo({ ...off, batchTarget: 3 });
      expect(tuned.dueAt).toBe(now + 10_000);
      expect(await store.settleOff(repo, 0)).toBe(false);
      expect(await store.settleOff({ ...repo, tenantId: 'another-tenant' }, seq ?? 0)).toBe(false);
      expect(await store.settleOff(repo, seq ?? 0)).toBe(true);
      expect((await store.getRepo(repo.id))?.dueAt).toBeNull();
      expect(await store.markDue(repo.id, now)).toBeNull();
      expect(await store.settleOff(repo, seq ?? 0)).toBe(false);
      await world.clock.advance(60_000);
      expect(await dueAmong([repo.id])).toEqual([]);
    });

    test('a repo that is on again is not settled off, nor one that is gone', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const off = await store.updateRepo({ ...repo, queueEnabled: false }, { lastLook: true });
      const on = await store.updateRepo({ ...off, queueEnabled: true });
      expect(await store.settleOff(repo, repo.wakeSeq)).toBe(false);
      expect(on.dueAt).toBe(world.clock.now());
      await store.deleteRepo(on);
      expect(await store.settleOff(repo, repo.wakeSeq)).toBe(false);
    });

    test('a tombstone with one is due as well, also on a queue that was off', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const off = await store.updateRepo({ ...repo, queueEnabled: false });
      expect(await dueAmong([repo.id])).toEqual([]);
      await store.updateRepo({ ...off, tombstone: true }, { lastLook: true });
      expect(await dueAmong([repo.id])).toEqual([repo.id]);
      expect(await store.settleOff(repo, repo.wakeSeq)).toBe(true);
      expect(await dueAmong([repo.id])).toEqual([]);
    });
  });

  describe('outcome, look-ups, deliveries', () => {
    test('the last outcome stands, whatever the order of arrival (A48)', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      expect(await store.loadReconcileOutcome(repo)).toBeNull();
      const late: ReconcileOutcome = {
        ranAt: 20,
        ok: false,
        errorCode: 'forge_access_denied',
        retryingSince: 5,
        missingScopes: ['read:issue', 'write:issue'],
        refusal: 'moved',
        keyFault: 'DisabledException',
        slowFailures: 2,
        heldMs: 60_000,
      };
      await store.saveReconcileOutcome(repo, late);
      await store.saveReconcileOutcome(repo, { ranAt: 10, ok: true, errorCode: null });
      expect(await store.loadReconcileOutcome(repo)).toEqual(late);
      await world.subject().corrupt('outcome', repo);
      expect(await kindOf(store.loadReconcileOutcome(repo))).toBe('unreadable');
      await store.saveReconcileOutcome(repo, { ranAt: 30, ok: true, errorCode: null });
      expect(await store.loadReconcileOutcome(repo)).toEqual({
        ranAt: 30,
        ok: true,
        errorCode: null,
        lastGoodAt: 30,
      });
    });

    test('one of a clock that has been set back since makes way: what is seen now is the outcome (A48)', async () => {
      const { repo } = await world.enroll();
      const at = world.clock.now();
      await world.store().saveReconcileOutcome(repo, { ranAt: at + 3_600_000, ok: true, errorCode: null });
      await world.store().saveReconcileOutcome(repo, { ranAt: at, ok: false, errorCode: 'timeout' });
      expect(await world.store().loadReconcileOutcome(repo)).toMatchObject({ ranAt: at, ok: false });
    });

    test('when a look went well last is kept beside the failures after it', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      await store.saveReconcileOutcome(repo, { ranAt: 10, ok: true, errorCode: null });
      await store.saveReconcileOutcome(repo, { ranAt: 20, ok: false, errorCode: 'timeout' });
      await store.saveReconcileOutcome(repo, { ranAt: 30, ok: false, errorCode: 'timeout' });
      expect(await store.loadReconcileOutcome(repo)).toMatchObject({ ranAt: 30, lastGoodAt: 10 });
    });

    test('a repo that is gone gets no outcome row (A57)', async () => {
      const { repo } = await world.enroll();
      await world.store().deleteRepo(repo);
      await world.store().saveReconcileOutcome(repo, { ranAt: 10, ok: true, errorCode: null });
      expect(await world.store().loadReconcileOutcome(repo)).toBeNull();
    });

    test('a hook finds its repo by hook id, and by address in any spelling (D-31, D-46)', async () => {
      const hookId = randomUUID();
      const { repo } = await world.enroll({ hookId, slug: 'Acme/Web' });
      const store = world.store();
      expect((await store.findRepoForHook({ hookId }))?.id).toBe(repo.id);
      const instanceUrl = `${repo.instanceUrl.toUpperCase()}:443/`;
      expect((await store.findRepoForHook({ instanceUrl, slug: 'aCME/wEB' }))?.id).toBe(repo.id);
      expect(await store.findRepoForHook({ hookId: randomUUID() })).toBeNull();
      expect(await store.findRepoForHook({ instanceUrl, slug: 'acme/other' })).toBeNull();
      expect(await store.findRepoForHook({ instanceUrl: 'not a url', slug: 'acme/web' })).toBeNull();
      const renewed = await store.updateRepo({ ...repo, hookId: `${hookId}-2` });
      expect(await store.findRepoForHook({ hookId })).toBeNull();
      expect((await store.findRepoForHook({ hookId: `${hookId}-2` }))?.id).toBe(repo.id);
      await store.deleteRepo(renewed);
      expect(await store.findRepoForHook({ hookId: `${hookId}-2` })).toBeNull();
      expect(await store.findRepoForHook({ instanceUrl, slug: 'acme/web' })).toBeNull();
    });

    test('the engine finds a repo only by its whole address', async () => {
      const { repo } = await world.enroll();
      const { tenantId, instanceUrl, slug, baseBranch, id } = repo;
      const address = { tenantId, instanceUrl, slug, baseBranch };
      const store = world.store();
      expect((await store.findRepo(address))?.id).toBe(id);
      expect((await store.findRepo({ ...address, slug: 'ACME/web' }))?.id).toBe(id);
      expect(await store.findRepo({ ...address, tenantId: 'another-tenant' })).toBeNull();
      expect(await store.findRepo({ ...address, baseBranch: 'next' })).toBeNull();
      expect(await store.findRepo({ ...address, slug: 'no-slug' })).toBeNull();
    });

    test('a delivery id counts once in 24 hours, also when 20 copies arrive at once', async () => {
      const { repo } = await world.enroll();
      const deliveryId = randomUUID();
      const claim = () => world.store().claimDelivery(repo.id, deliveryId);
      const isClaimed = () => world.store().isDeliveryClaimed(repo.id, deliveryId);
      expect(await isClaimed()).toBe(false);
      const answers = await Promise.all(times(20, claim));
      expect(answers.filter((isNew) => isNew)).toHaveLength(1);
      await world.clock.advance(DELIVERY_ID_KEPT_MS - 1);
      expect([await claim(), await isClaimed()]).toEqual([false, true]);
      await world.clock.advance(1);
      expect(await isClaimed()).toBe(false);
      expect(await claim()).toBe(true);
      expect(await world.store().claimDelivery(`${repo.id}-2`, deliveryId)).toBe(true);
    });

    test('an outcome of a run that did not see the rule of the base or the forge leaves what was seen before', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const rule = { at: 4, reasons: ['direct_push_allowed'] } as const;
      const forge = { kind: 'gitea', major: 1, minor: 26, patch: 4 } as const;
      const newest = { pr: 7, head: 'f'.repeat(40), updatedAt: 4 };
      const sight = { tip: 'a'.repeat(40), newest, isSettled: true, since: 3 };
      const settingsSeen = {
        commit: 'c',
        tree: 't',
        since: 4,
        blob: 'b',
        from: 'f',
        values: { bisect_fanout: 4 },
        problems: [{ line: 2, column: 1, key: null, says: 'wrong' }],
      };
      const seen = { rule, forge, sight, settingsSeen };
      const first = { ranAt: 5, ok: true, errorCode: null, ...seen, retryingSince: 3 };
      await store.saveReconcileOutcome(repo, first);
      await store.saveReconcileOutcome(repo, { ranAt: 6, ok: false, errorCode: 'engine_error' });
      const kept = {
        ranAt: 6,
        ok: false,
        errorCode: 'engine_error',
        ...seen,
        lastGoodAt: 5,
      } as const;
      expect(await store.loadReconcileOutcome(repo)).toEqual(kept);
      expect((await store.listOutcomes(repo.tenantId)).get(repo.id)).toEqual(kept);
      await store.saveReconcileOutcome(repo, { ranAt: 5, ok: true, errorCode: null });
      expect(await store.loadReconcileOutcome(repo)).toEqual(kept);
    });

    test('a queue that is asked to stop is due at once, counts the wake, and forgets it once it is switched', async () => {
      const { repo } = await world.enroll({ dueAt: world.clock.now() + 60_000 });
      const store = world.store();
      const until = world.clock.now() + 1_000;
      expect(await store.askStop(repo.id, until)).toBe(1);
      const asked = await store.getRepo(repo.id);
      expect(asked).toMatchObject({ wakeSeq: 1, dueAt: world.clock.now(), stopUntil: until });
      expect(await store.listDueRepos(world.clock.now(), 10_000)).toContain(repo.id);
      const tuned = await store.updateRepo({ ...(asked ?? repo), batchTarget: 3 });
      expect((await store.getRepo(repo.id))?.stopUntil).toBe(until);
      const off = await store.updateRepo({ ...tuned, queueEnabled: false });
      expect([off.stopUntil, (await store.getRepo(repo.id))?.stopUntil]).toEqual([undefined, undefined]);
      expect(await store.askStop(repo.id, until)).toBeNull();
    });

    test('an event of a gate is noted once an hour for each kind, whatever is saved meanwhile, and wakes nothing', async () => {
      const { repo } = await world.enroll({ dueAt: world.clock.now() + 60_000 });
      const store = world.store();
      const at = world.clock.now();
      expect((await store.getRepo(repo.id))?.heard).toBeUndefined();
      await store.noteHeard(repo.id, 'run', at);
      await store.noteHeard(repo.id, 'run', at + HEARD_NOTED_EVERY_MS - 1);
      await store.noteHeard(repo.id, 'status', at + 5);
      await store.noteHeard(repo.id, 'delivery', at + 7);
      const heard = await store.getRepo(repo.id);
      expect(heard).toMatchObject({
        heard: { run: at, status: at + 5, delivery: at + 7 },
        wakeSeq: 0,
        dueAt: repo.dueAt,
      });
      await store.updateRepo({ ...(heard ?? repo), heard: { run: 1 }, batchTarget: 3 });
      expect((await store.getRepo(repo.id))?.heard).toEqual({ run: at, status: at + 5, delivery: at + 7 });
      await store.noteHeard(repo.id, 'run', at + HEARD_NOTED_EVERY_MS);
      expect((await store.getRepo(repo.id))?.heard?.run).toBe(at + HEARD_NOTED_EVERY_MS);
      // A clock that has been set back must not keep an arrival in the future.
      await store.noteHeard(repo.id, 'run', at);
      expect((await store.getRepo(repo.id))?.heard?.run).toBe(at);
      await store.noteHeard('99999999-9999-4999-8999-999999999999', 'run', at);
      expect(await store.getRepo('99999999-9999-4999-8999-999999999999')).toBeNull();
    });

    test('the newest tick is kept; one that comes late changes nothing', async () => {
      const at = world.clock.now();
      const tell = async (tick: number) => {
        await world.store().recordTick(tick);
        return world.store().loadLastTick();
      };
      expect(await tell(at)).toBe(at);
      expect(await tell(at - 1)).toBe(at);
      expect(await tell(at + 300_000)).toBe(at + 300_000);
      // A clock that has been set back must not make a service look alive that ticks no more.
      expect(await tell(at + 1)).toBe(at + 1);
    });
  });
}
