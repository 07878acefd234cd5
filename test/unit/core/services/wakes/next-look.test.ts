import {
  IDLE_DUE_DELAY_MS,
  LEASE_HELD_DELAY_MS,
  LEASE_TTL_MS,
  RECONCILE_BUDGET_MS,
  RETRY_SOON_MS,
  TENANT_RECONCILES_MAX,
  WAKE_DELAY_MS_MAX,
  WAKE_DELAY_MS_MIN,
} from '#core/domain/limits.ts';
import type { OngoingReconcile } from '#core/domain/wakes/fairness.ts';
import { type EngineAnswer, VaultError } from '#core/ports/system.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { forwardDelayedWake, wakeNow } from '#core/services/wakes/send-wakes.ts';
import { givenWorker } from './given-worker.ts';

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

  test('comes when the mark of a switch-off that was given up is over: its heads say that the queue is off', async () => {
    const world = await givenWorker();
    const until = world.clock.now() + 60_000;
    const wakeSeq = await world.store.askStop('repo-1', until);
    await dispatchReconcile(world.deps, 'repo-1');
    expect(world.queue.delayed).toEqual([{ repoId: 'repo-1', wakeSeq, visibleAt: until }]);
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
