import { LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS, WIND_DOWN_MS } from '#core/domain/limits.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { forwardDelayedWake } from '#core/services/wakes/send-wakes.ts';
import { givenWorker, TOKEN } from './given-worker.ts';

describe('a wake', () => {
  test('runs the engine once with the six strings and the fence, and stores the outcome (A48)', async () => {
    const world = await givenWorker();
    const result = await dispatchReconcile(world.deps, 'repo-1');
    expect(result).toMatchObject({ kind: 'reconciled', outcome: { ok: true, errorCode: null } });
    expect(world.requests).toHaveLength(1);
    expect(world.requests[0]).toMatchObject({
      order: { fence: 1, command: 'reconcile' },
      request: {
        tenantId: 'tenant-1',
        repoSlug: 'acme/app',
        baseBranch: 'main',
        queueName: 'mq',
        instanceUrl: 'https://forge.example',
      },
    });
    expect(world.requests[0]?.request.token.reveal()).toBe(TOKEN);
    expect(await world.outcome()).toMatchObject({ ok: true, errorCode: null, ranAt: world.clock.now() });
    expect(await world.store.readLeaseState('repo-1')).toBe('idle');
    expect(world.logged.join()).not.toContain(TOKEN);
  });

  test.each<[string, Partial<ManagedRepo>, string]>([
    ['deleted', { tombstone: true }, 'gone'],
    ['switched off long ago', { queueEnabled: false, dueAt: null }, 'disabled'],
    ['not due', { dueAt: Date.UTC(2030, 0, 1) }, 'not_due'],
  ])('of a repo that is %s does nothing', async (_name, changes, kind) => {
    const world = await givenWorker(changes);
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe(kind);
    expect(world.requests).toHaveLength(0);
    expect(await world.outcome()).toBeNull();
  });

  test('of a queue that was just switched off runs the engine until it has nothing left to take back (A24)', async () => {
    const world = await givenWorker({ queueEnabled: false, dueAt: null, updatedAt: Date.UTC(2026, 0, 1) });
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { wakeAt: world.clock.now() + 20_000 });
      return 'ok';
    };
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
    expect(world.queue.delayed).toHaveLength(1);
    world.engine.act = async (fence) => {
      await world.engine.report(fence);
      return 'ok';
    };
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
    expect(world.queue.delayed).toHaveLength(1);
    await world.clock.advance(WIND_DOWN_MS + 1);
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('disabled');
    expect(world.requests).toHaveLength(2);
  });

  test('of an unknown repo does nothing', async () => {
    const world = await givenWorker();
    expect(await dispatchReconcile(world.deps, 'repo-9')).toEqual({ kind: 'gone' });
  });

  test('that is delivered twice runs once: after the first the repo is not due', async () => {
    const world = await givenWorker();
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await dispatchReconcile(world.deps, 'repo-1')).toEqual({ kind: 'not_due' });
    expect(world.requests).toHaveLength(1);
  });
});

describe('the lease (A40)', () => {
  test('held by another worker: nothing runs, and another look is planned', async () => {
    const world = await givenWorker();
    await world.store.acquireLease('repo-1', 'another-holder', 'manual', LEASE_TTL_MS);
    expect(await dispatchReconcile(world.deps, 'repo-1')).toEqual({ kind: 'lease_held' });
    expect(world.requests).toHaveLength(0);
    expect(await world.outcome()).toBeNull();
    expect(world.queue.delayed).toHaveLength(1);
  });

  test('an engine that was never reached leaves the lease free, and is retried soon', async () => {
    const world = await givenWorker();
    world.engine.act = async () => 'unreachable';
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await world.outcome()).toMatchObject({ ok: false, errorCode: 'engine_error' });
    expect(await world.store.readLeaseState('repo-1')).toBe('idle');
    expect(world.queue.delayed).toHaveLength(1);
  });

  test('an engine that did not answer keeps the lease until it runs out', async () => {
    const world = await givenWorker();
    world.engine.act = async () => 'lost';
    await dispatchReconcile(world.deps, 'repo-1');
    expect(await world.outcome()).toMatchObject({ ok: false, errorCode: 'timeout' });
    expect(await world.store.readLeaseState('repo-1')).toBe('held');
    const lookAt = world.queue.delayed[0]?.visibleAt ?? 0;
    expect(lookAt).toBe(world.clock.now() + LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS);
    await world.clock.advance(lookAt - world.clock.now());
    await forwardDelayedWake(world, { repoId: 'repo-1', wakeSeq: 0 });
    world.engine.act = async () => 'ok';
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
  });

  test('a store that fails while the engine may be at work does not free the lease', async () => {
    const world = await givenWorker();
    world.engine.act = async () => 'lost';
    world.store.beforeCall = (label) => {
      if (label === 'saveReconcileOutcome') throw new Error('no answer');
    };
    await expect(dispatchReconcile(world.deps, 'repo-1')).rejects.toThrow('no answer');
    world.store.beforeCall = null;
    expect(await world.store.readLeaseState('repo-1')).toBe('held');
  });

  test.each(['getRepo', 'getConnection', 'loadReport', 'saveReconcileOutcome', 'settleDue'])(
    'a store without an answer to %s throws, and the repo is due as before',
    async (failing) => {
      const world = await givenWorker();
      world.store.beforeCall = (label) => {
        if (label === failing) throw new Error('no answer');
      };
      await expect(dispatchReconcile(world.deps, 'repo-1')).rejects.toThrow('no answer');
      world.store.beforeCall = null;
      expect(await world.store.readLeaseState('repo-1')).toBe('idle');
      expect((await world.row()).dueAt).toBe(0);
      expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
    },
  );

  test('two workers with one message: one engine call', async () => {
    const world = await givenWorker();
    const results = await Promise.all([
      dispatchReconcile(world.deps, 'repo-1'),
      dispatchReconcile(world.deps, 'repo-1'),
    ]);
    expect(results.map((result) => result.kind).sort()).toEqual(['lease_held', 'reconciled']);
    expect(world.requests).toHaveLength(1);
  });
});
