import { GLANCE_EVERY_MS } from '#core/domain/limits.ts';
import type { ManagedRepo, ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import type { EngineReport } from '#core/ports/store.ts';
import { type EngineAnswer, VaultError } from '#core/ports/system.ts';
import { dispatchReconcile, recordAbandonedWake } from '#core/services/wakes/dispatch-reconcile.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { givenWorker } from './given-worker.ts';

describe('the outcome', () => {
  test.each<[EngineAnswer, ReconcileErrorCode | null, boolean, ReconcileErrorCode | null]>([
    ['ok', null, true, null],
    ['ok', 'base_red', false, 'base_red'],
    ['failed', null, false, 'engine_error'],
    ['failed', 'forge_unreachable', false, 'forge_unreachable'],
    ['starting', null, false, 'engine_starting'],
  ])('engine %s with report %s: ok=%s, %s', async (answer, reported, ok, errorCode) => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { errorCode: reported });
      return answer;
    };
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await world.outcome()).toMatchObject({ ok, errorCode });
  });

  test.each<[string, Partial<EngineReport>]>([
    ['went well', {}],
    [
      'was refused for a scope that the token lacks',
      { errorCode: 'forge_access_denied', missingScopes: ['write:repository'] },
    ],
    [
      'was refused because the repository is archived',
      { errorCode: 'forge_access_denied', refusal: 'archived' },
    ],
  ])('that is unchanged is stored again with its own time, after one that %s', async (_case, report) => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, report);
      return report.errorCode === undefined ? 'ok' : 'failed';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    const before = await world.outcome();
    world.engine.act = async () => 'unchanged';
    await world.clock.advance(60_000);
    await wakeNow(world, 'repo-1');
    await dispatchReconcile(world.deps, 'repo-1');
    const ranAt = world.clock.now();
    expect(await world.outcome()).toEqual({
      ...before,
      ranAt,
      ...(before?.ok === true ? { lastGoodAt: ranAt } : {}),
    });
    expect(world.queue.delayed).toEqual([]);
  });

  test('keeps what was seen of the branch, and since when it is so, whether the engine looked or not', async () => {
    const world = await givenWorker();
    const pull = { pr: 1, head: 'h', updatedAt: 5_000 };
    const sight = { tip: 'a', newest: pull, isSettled: true };
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { sight });
      return 'ok';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    expect((await world.outcome())?.sight).toEqual({ ...sight, since: 5_000 });
    const memory = { tip: 'a', pulls: [{ ...pull, seenAt: 6_000, readAt: 9_000 }], blindUntil: null };
    await world.store.saveLook('repo-1', memory);
    world.engine.act = async () => 'unchanged';
    const again = async () => {
      await world.clock.advance(60_000);
      await wakeNow(world, 'repo-1');
      await dispatchReconcile(world.deps, 'repo-1');
      return (await world.outcome())?.sight;
    };
    expect(await again()).toEqual({ ...sight, since: 5_000 });
    await world.store.saveLook('repo-1', { ...memory, tip: 'b' });
    expect(await again()).toEqual({ ...sight, tip: 'b', since: world.clock.now() });
    world.engine.act = async () => 'unreachable';
    const before = await world.outcome();
    expect(await again()).toEqual(before?.sight);
  });

  describe('plans a glance', () => {
    const givenSeen = async (report: Partial<EngineReport>, repo: Partial<ManagedRepo> = {}) => {
      const world = await givenWorker(repo);
      const newest = { pr: 1, head: 'h', updatedAt: world.clock.now() - 1_000 };
      world.engine.act = async (fence) => {
        await world.engine.report(fence, { sight: { tip: 'a', newest, isSettled: true }, ...report });
        return report.errorCode == null ? 'ok' : 'failed';
      };
      await dispatchReconcile(world.deps, 'repo-1');
      return world;
    };

    test('half a minute after a look that went well and waits for nothing of its own', async () => {
      const { queue, clock } = await givenSeen({});
      const visibleAt = clock.now() + GLANCE_EVERY_MS;
      expect(queue.delayedGlances).toEqual([{ repoId: 'repo-1', wakeSeq: 0, step: 1, visibleAt }]);
      expect(queue.delayed).toEqual([]);
    });

    test('also before a next look that the engine plans for later than that, which replaces it', async () => {
      const wakeAt = Date.UTC(2026, 0, 1) + 90_000;
      const { queue, clock } = await givenSeen({ wakeAt });
      const visibleAt = clock.now() + GLANCE_EVERY_MS;
      expect(queue.delayedGlances).toEqual([{ repoId: 'repo-1', wakeSeq: 0, step: 1, visibleAt }]);
      expect(queue.delayed).toEqual([{ repoId: 'repo-1', wakeSeq: 0, visibleAt: wakeAt }]);
    });

    test('and a queue that does not answer then takes nothing from the look', async () => {
      const world = await givenWorker();
      const sight = { tip: 'a', newest: null, isSettled: true };
      world.engine.act = async (fence) => {
        await world.engine.report(fence, { sight });
        world.queue.failing = true;
        return 'ok';
      };
      await dispatchReconcile(world.deps, 'repo-1');
      expect(await world.outcome()).toMatchObject({ ok: true, sight });
    });

    test.each<[string, Partial<EngineReport>, Partial<ManagedRepo>]>([
      ['that plans its own next look sooner', { wakeAt: Date.UTC(2026, 0, 1) + 20_000 }, {}],
      ['that failed', { errorCode: 'base_red' }, {}],
      ['that winds a queue down', {}, { stopUntil: Date.UTC(2030, 0, 1) }],
      [
        'at a queue that was just switched off',
        {},
        { queueEnabled: false, dueAt: null, updatedAt: Date.UTC(2026, 0, 1) },
      ],
    ])('but not after a look %s', async (_case, report, repo) => {
      const { queue, requests } = await givenSeen(report, repo);
      expect(requests).toHaveLength(1);
      expect(queue.delayedGlances).toEqual([]);
    });
  });

  test('after a clock that has been set back tells by the clock as it is now since when looks fail', async () => {
    const world = await givenWorker();
    const at = world.clock.now();
    const ahead = { ranAt: at + 3_600_000, errorCode: null, retryingSince: at + 3_600_000 };
    await world.store.saveReconcileOutcome(await world.row(), { ...ahead, ok: true });
    world.engine.act = async () => 'unreachable';
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await world.outcome()).toMatchObject({ ok: false, ranAt: at, lastGoodAt: at, retryingSince: at });
  });

  test('a repository without any outcome cannot be unchanged', async () => {
    const world = await givenWorker();
    world.engine.act = async () => 'unchanged';
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await world.outcome()).toMatchObject({ errorCode: 'engine_error' });
  });

  test('a report of an earlier reconcile is not taken for this one', async () => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { errorCode: 'tree_mismatch', wakeAt: world.clock.now() + 11_000 });
      return 'failed';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    world.engine.act = async () => 'failed';
    await wakeNow(world, 'repo-1');
    await world.clock.advance(1);
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await world.outcome()).toMatchObject({ errorCode: 'engine_error' });
  });

  test.each<
    [string, (world: Awaited<ReturnType<typeof givenWorker>>) => void | Promise<void>, ReconcileErrorCode]
  >([
    [
      'the token cannot be decrypted',
      (world) => world.refuseToken(new VaultError('undecryptable')),
      'decryption_error',
    ],
    ['the key service is away', (world) => world.refuseToken(new VaultError('unavailable')), 'engine_error'],
    [
      'the connection is being deleted',
      async (world) => {
        await world.store.markConnectionDeleting('tenant-1', 'connection-1');
      },
      'connection_not_found',
    ],
  ])('%s', async (_name, arrange, errorCode) => {
    const world = await givenWorker();
    await arrange(world);
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await world.outcome()).toMatchObject({ ok: false, errorCode });
    expect(world.requests).toHaveLength(0);
    expect(await world.store.readLeaseState('repo-1')).toBe('idle');
  });

  test('of a wake that failed for good is recorded', async () => {
    const world = await givenWorker();
    expect(await recordAbandonedWake(world.deps, 'repo-1')).toBe(true);
    expect(await world.outcome()).toMatchObject({ ok: false, errorCode: 'engine_error' });
    expect(await recordAbandonedWake(world.deps, 'repo-9')).toBe(false);
  });
});
