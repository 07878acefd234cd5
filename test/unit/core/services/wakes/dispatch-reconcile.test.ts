import {
  GLANCE_EVERY_MS,
  IDLE_DUE_DELAY_MS,
  LEASE_HELD_DELAY_MS,
  LEASE_TAKEOVER_GRACE_MS,
  LEASE_TTL_MS,
  RECONCILE_BUDGET_MS,
  RETRY_SOON_MS,
  TENANT_RECONCILES_MAX,
  WAKE_DELAY_MS_MAX,
  WAKE_DELAY_MS_MIN,
  WIND_DOWN_MS,
} from '#core/domain/limits.ts';
import type { ManagedRepo, ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import type { OngoingReconcile } from '#core/domain/wakes/fairness.ts';
import type { EngineReport } from '#core/ports/store.ts';
import {
  type EngineAnswer,
  type EnginePort,
  type ReconcileOrder,
  type ReconcileRequest,
  VaultError,
} from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import {
  type DispatchDeps,
  dispatchReconcile,
  recordAbandonedWake,
} from '#core/services/wakes/dispatch-reconcile.ts';
import { adoptLease } from '#core/services/wakes/lease.ts';
import { forwardDelayedWake, wakeNow } from '#core/services/wakes/wake.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { FakeWakeQueue } from '../../../../fakes/wake-queue.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const TOKEN = 'canary-token-5521';

/** Worker around a memory store; the engine is a function of the test that may leave a report as the real one does. */
async function givenWorker(changes: Partial<ManagedRepo> = {}) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const queue = new FakeWakeQueue(clock);
  const requests: { request: ReconcileRequest; order: ReconcileOrder }[] = [];
  const logged: string[] = [];
  const write = (message: string, fields?: unknown): void => {
    logged.push(message + JSON.stringify(fields));
  };
  const engine = {
    act: async (_fence: number): Promise<EngineAnswer> => 'ok',
    async report(fence: number, changes: Partial<EngineReport> = {}): Promise<void> {
      const held = await adoptLease({ leases: store, clock }, 'repo-1', fence);
      if (held === null) throw new Error('the lease is not ours');
      await store.saveReport(held, {
        fence,
        at: clock.now(),
        errorCode: null,
        wakeAt: null,
        logTail: [],
        ...changes,
      });
    },
  };
  const port: EnginePort = {
    reconcile: async (request, order) => {
      requests.push({ request, order });
      return engine.act(order.fence);
    },
    isHealthy: async () => true,
  };
  let opened: () => Secret<string> = () => new Secret(TOKEN);
  let nextId = 0;
  const deps: DispatchDeps = {
    store,
    leases: store,
    vault: {
      seal: async () => Promise.reject(new Error('never sealed here')),
      open: async () => opened(),
    },
    engine: port,
    queue,
    clock,
    ids: { uuid: () => `id-${nextId++}` },
    log: { info: write, warn: write, error: write },
    queueName: 'mq',
  };
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  const repo = givenRepo(changes);
  await store.createRepo(repo, null);
  const outcome = () => store.loadReconcileOutcome(repo);
  const row = async (): Promise<ManagedRepo> => {
    const found = await store.getRepo('repo-1');
    if (found === null) throw new Error('gone');
    return found;
  };
  return {
    clock,
    store,
    queue,
    requests,
    logged,
    engine,
    deps,
    outcome,
    row,
    refuseToken: (error: Error) => {
      opened = () => {
        throw error;
      };
    },
  };
}

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
      ['that plans its own next look', { wakeAt: Date.UTC(2026, 0, 1) + 20_000 }, {}],
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

describe('the next look', () => {
  test('is when the engine wants it, by due mark and by delayed wake', async () => {
    const world = await givenWorker();
    const wakeAt = world.clock.now() + 17_000;
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { wakeAt });
      return 'ok';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    expect((await world.row()).dueAt).toBe(wakeAt);
    expect(world.queue.delayed).toEqual([{ repoId: 'repo-1', wakeSeq: 0, visibleAt: wakeAt }]);
  });

  test('is never sooner than the least delay', async () => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { wakeAt: world.clock.now() });
      return 'ok';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    expect(world.queue.delayed[0]?.visibleAt).toBe(world.clock.now() + WAKE_DELAY_MS_MIN);
  });

  test('is at the next tick where the engine waits for longer: no event need announce what happens meanwhile (A46)', async () => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { wakeAt: world.clock.now() + 30 * 60_000 });
      return 'ok';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    expect(world.queue.delayed).toEqual([]);
    expect(await world.store.listDueRepos(world.clock.now() + 240_000, 10)).toEqual(['repo-1']);
  });

  test('of a quiet repo is at the next tick, which finds it due whatever its jitter', async () => {
    const world = await givenWorker();
    await dispatchReconcile(world.deps, 'repo-1');
    expect(world.queue.delayed).toEqual([]);
    expect(await world.store.listDueRepos(world.clock.now() + 240_000, 10)).toEqual(['repo-1']);
  });

  test('a wake during the run keeps the repo due, and no delayed wake is added (E9)', async () => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { wakeAt: world.clock.now() + 15_000 });
      await world.clock.advance(500);
      await wakeNow(world, 'repo-1');
      return 'ok';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    expect((await world.row()).dueAt).toBeLessThanOrEqual(world.clock.now());
    expect(world.queue.delayed).toEqual([]);
    expect(world.queue.wakes).toHaveLength(1);
    world.engine.act = async () => 'ok';
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
  });

  test('looks of one repo do not multiply: ticks and events leave one chain', async () => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { wakeAt: world.clock.now() + 12_000 });
      return 'ok';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    for (let round = 0; round < 40; round += 1) {
      await world.clock.advance(12_000);
      if (round % 5 === 0) await wakeNow(world, 'repo-1');
      const due = world.queue.delayed.splice(0).filter((wake) => wake.visibleAt <= world.clock.now());
      for (const wake of due) await forwardDelayedWake(world, wake);
      for (const wake of world.queue.wakes.splice(0)) await dispatchReconcile(world.deps, wake.repoId);
      expect(world.queue.delayed.length).toBeLessThanOrEqual(1);
    }
    expect(world.requests.length).toBeGreaterThan(35);
    expect(world.requests.length).toBeLessThan(60);
  });
});

describe('a failure that passes', () => {
  const failures: [string, (world: Awaited<ReturnType<typeof givenWorker>>) => void][] = [
    ['the key service is throttled', (world) => world.refuseToken(new VaultError('unavailable'))],
    ['the engine fails and leaves no report', (world) => answer(world, 'failed')],
    ['the engine refuses the request', (world) => answer(world, 'refused')],
    ['the engine is away', (world) => answer(world, 'unreachable')],
  ];
  const answer = (world: Awaited<ReturnType<typeof givenWorker>>, value: EngineAnswer) => {
    world.engine.act = async () => value;
  };

  test.each(failures)(
    '%s: another try within 10 to 30 s, by due mark and by delayed wake',
    async (_, arrange) => {
      const world = await givenWorker();
      arrange(world);
      await dispatchReconcile(world.deps, 'repo-1');
      expect(world.queue.delayed).toHaveLength(1);
      const waitMs = (world.queue.delayed[0]?.visibleAt ?? 0) - world.clock.now();
      expect(waitMs).toBeGreaterThanOrEqual(WAKE_DELAY_MS_MIN);
      expect(waitMs).toBeLessThanOrEqual(WAKE_DELAY_MS_MAX);
      expect((await world.row()).dueAt).toBeLessThanOrEqual(world.queue.delayed[0]?.visibleAt ?? 0);
    },
  );

  test.each(failures)('%s, and it lasts: tries get rarer, then only ticks are left', async (_, arrange) => {
    const world = await givenWorker();
    arrange(world);
    const startedAt = world.clock.now();
    const tries: number[] = [];
    await dispatchReconcile(world.deps, 'repo-1');
    while (world.queue.delayed.length > 0 && tries.length < 1_000) {
      const [wake] = world.queue.delayed.splice(0);
      if (wake === undefined) break;
      await world.clock.advance(wake.visibleAt - world.clock.now());
      await forwardDelayedWake(world, wake);
      tries.push(world.clock.now() - startedAt);
      await dispatchReconcile(world.deps, 'repo-1');
    }
    const waits = tries.map((at, index) => at - (tries[index - 1] ?? 0));
    expect(Math.max(...waits)).toBeLessThanOrEqual(WAKE_DELAY_MS_MAX);
    expect(waits.at(-1)).toBeGreaterThan(waits[0] ?? 0);
    const lastAt = tries.at(-1) ?? 0;
    expect(lastAt).toBeGreaterThan(RETRY_SOON_MS - WAKE_DELAY_MS_MAX);
    expect(lastAt).toBeLessThanOrEqual(RETRY_SOON_MS + WAKE_DELAY_MS_MAX);
    expect(await world.store.listDueRepos(world.clock.now() + 240_000, 10)).toEqual(['repo-1']);
  });

  test('after one that went well the next failure is tried again as soon as the first', async () => {
    const world = await givenWorker();
    const failOnce = async () => {
      world.engine.act = async () => 'failed';
      await wakeNow(world, 'repo-1');
      await dispatchReconcile(world.deps, 'repo-1');
      return (world.queue.delayed.splice(0)[0]?.visibleAt ?? 0) - world.clock.now();
    };
    await failOnce();
    await world.clock.advance(2 * RETRY_SOON_MS);
    world.engine.act = async (fence) => {
      await world.engine.report(fence);
      return 'ok';
    };
    await wakeNow(world, 'repo-1');
    await dispatchReconcile(world.deps, 'repo-1');
    await world.clock.advance(60_000);
    expect(await failOnce()).toBeLessThan(20_000);
  });

  test('an outcome row that cannot be read is no reason not to try again', async () => {
    const world = await givenWorker();
    world.engine.act = async () => 'failed';
    await dispatchReconcile(world.deps, 'repo-1');
    world.store.corrupt('outcome', 'repo-1');
    await wakeNow(world, 'repo-1');
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
    expect(world.queue.delayed).toHaveLength(2);
    expect(await world.outcome()).toMatchObject({ errorCode: 'engine_error' });
  });

  test('a lasting fault is no passing failure: a failing base leaves the next failure its quick try', async () => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { errorCode: 'base_red' });
      return 'failed';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    expect(world.queue.delayed).toEqual([]);
    await world.clock.advance(2 * RETRY_SOON_MS);
    world.engine.act = async () => 'failed';
    await wakeNow(world, 'repo-1');
    await dispatchReconcile(world.deps, 'repo-1');
    expect(world.queue.delayed).toHaveLength(1);
  });

  test('many repos that fail at the same moment do not come back at the same moment', async () => {
    const waits = new Set<number>();
    for (let index = 0; index < 40; index += 1) {
      const id = `repo-${index}`;
      const world = await givenWorker({ id });
      world.refuseToken(new VaultError('unavailable'));
      await dispatchReconcile(world.deps, id);
      waits.add((world.queue.delayed[0]?.visibleAt ?? 0) - world.clock.now());
    }
    expect(waits.size).toBeGreaterThan(3);
  });

  test('a delayed wake that cannot be sent leaves the repo due, so that its message does when it comes back', async () => {
    const world = await givenWorker();
    world.engine.act = async (fence) => {
      await world.engine.report(fence, { wakeAt: world.clock.now() + 20_000 });
      return 'ok';
    };
    world.queue.failing = true;
    await expect(dispatchReconcile(world.deps, 'repo-1')).rejects.toThrow('the queue does not answer');
    world.queue.failing = false;
    await world.clock.advance(10_000);
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
    expect(world.queue.delayed).toHaveLength(1);
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

describe('a forge or an engine that is waited for in vain', () => {
  test('is looked at after a pause that doubles each time, up to the tick, and begins anew once a reconcile goes well', async () => {
    const world = await givenWorker();
    let answersInTime = false;
    world.engine.act = async (fence) => {
      await world.clock.advance(answersInTime ? 1_000 : RECONCILE_BUDGET_MS);
      await world.engine.report(fence, {
        errorCode: answersInTime ? null : 'timeout',
        wakeAt: world.clock.now(),
      });
      return answersInTime ? 'ok' : 'failed';
    };
    const look = async () => {
      const { dueAt } = await world.row();
      await world.clock.advance(Math.max(0, (dueAt ?? 0) - world.clock.now()));
      await dispatchReconcile(world.deps, 'repo-1');
      return ((await world.row()).dueAt ?? 0) - world.clock.now();
    };
    const pauses = [await look(), await look(), await look(), await look(), await look()];
    // Longer than a tick: the tick comes.
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, IDLE_DUE_DELAY_MS]);
    expect(world.queue.delayed).toHaveLength(4);
    answersInTime = true;
    await look();
    expect(await world.outcome()).not.toHaveProperty('slowFailures');
    answersInTime = false;
    expect(await look()).toBe(30_000);
  });

  test('an engine that was lost counts among those that run until it must have ended', async () => {
    const world = await givenWorker();
    world.engine.act = async () => {
      await world.clock.advance(45_000);
      return 'lost';
    };
    await dispatchReconcile(world.deps, 'repo-1');
    const run: OngoingReconcile = {
      id: 'x',
      repoId: 'repo-9',
      tenantId: 'tenant-9',
      host: 'other.example',
      standing: 'proven',
    };
    const countOthers = async () => {
      let others = 0;
      await world.store.beginReconcile(run, 1, (all) => {
        others = all.length;
        return false;
      });
      return others;
    };
    expect(await countOthers()).toBe(1);
    await world.clock.advance(LEASE_TTL_MS - 45_000);
    expect(await countOthers()).toBe(0);
  });

  test('beyond the limits a wake waits, keeps the repo due and comes back soon', async () => {
    const world = await givenWorker();
    for (let index = 0; index < TENANT_RECONCILES_MAX; index += 1) {
      const run = { repoId: `repo-${index + 10}`, tenantId: 'tenant-1', host: `${index}.example` };
      await world.store.beginReconcile(
        { id: `run-${index}`, standing: 'proven', ...run },
        60_000,
        () => true,
      );
    }
    expect(await dispatchReconcile(world.deps, 'repo-1')).toEqual({ kind: 'crowded' });
    expect(world.requests).toEqual([]);
    expect(world.queue.delayed).toMatchObject([{ repoId: 'repo-1' }]);
    await world.store.endReconcile('run-0');
    await world.clock.advance(LEASE_HELD_DELAY_MS);
    expect((await dispatchReconcile(world.deps, 'repo-1')).kind).toBe('reconciled');
  });
});
