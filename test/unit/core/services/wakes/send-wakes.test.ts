import { EVENT_WAKE_WINDOW_MS, TICK_INTERVAL_MS, TICK_SENDS_MS } from '#core/domain/limits.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { Log } from '#core/ports/system.ts';
import {
  forwardDelayedWake,
  resumeWaits,
  UNCONDITIONAL_WAKE_SEQ,
  wakeDueRepos,
  wakeForEvent,
  wakeNow,
} from '#core/services/wakes/send-wakes.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { FakeWakeQueue } from '../../../../fakes/wake-queue.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

async function givenWorld(repos = [givenRepo()]) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const queue = new FakeWakeQueue(clock);
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  for (const repo of repos) await store.createRepo(repo, null);
  return { clock, store, queue, log: silent, planLimits: PLAN_LIMITS };
}

describe('a wake', () => {
  test('is recorded before it is sent: a send that fails leaves the due mark', async () => {
    const world = await givenWorld();
    await world.store.settleDue('repo-1', 0, world.clock.now() + 60_000);
    world.queue.failing = true;
    await expect(wakeNow(world, 'repo-1')).rejects.toThrow();
    expect((await world.store.getRepo('repo-1'))?.dueAt).toBe(world.clock.now());
    expect(await world.store.listDueRepos(world.clock.now(), 10)).toEqual(['repo-1']);
  });

  test('of a disabled or unknown repo is nothing', async () => {
    const world = await givenWorld([givenRepo({ queueEnabled: false, dueAt: null })]);
    expect(await wakeNow(world, 'repo-1')).toBe(false);
    expect(await wakeNow(world, 'repo-9')).toBe(false);
    expect(world.queue.wakes).toEqual([]);
  });
});

describe('a start that lost what waited in memory', () => {
  const due = (id: string, dueAt: number | null) =>
    givenRepo({ id, slug: `acme/${id}`, dueAt, ...(dueAt === null ? { queueEnabled: false } : {}) });

  test('plans the next look of each repository that comes before the tick, and leaves the tick its own', async () => {
    const start = new VirtualClock().now();
    const world = await givenWorld([
      due('due', start),
      due('soon', start + 8_000),
      due('gate', start + 60_000),
      due('later', start + TICK_INTERVAL_MS + 1),
      due('off', null),
    ]);
    await world.store.markDue('soon', start);
    await world.store.settleDue('soon', 1, start + 8_000);
    expect(await resumeWaits(world)).toBe(2);
    expect(world.queue.delayed).toEqual([
      expect.objectContaining({ repoId: 'soon', wakeSeq: 1, visibleAt: start + 8_000 }),
      expect.objectContaining({ repoId: 'gate', wakeSeq: 0, visibleAt: start + 60_000 }),
    ]);
    expect(world.queue.wakes).toEqual([]);
  });

  test('looks at once at what a clock planned that has been set back since', async () => {
    const start = new VirtualClock().now();
    const world = await givenWorld([due('ahead', start + 6 * 3_600_000), due('soon', start + 8_000)]);
    expect(await resumeWaits(world)).toBe(2);
    expect(world.queue.wakes).toMatchObject([{ repoId: 'ahead' }]);
    expect(await world.store.listDueRepos(start, 10)).toEqual(['ahead']);
  });

  test('keeps no repository from its look because another one fails', async () => {
    const start = new VirtualClock().now();
    const world = await givenWorld([due('one', start + 8_000), due('two', start + 9_000)]);
    const { getRepo } = world.store;
    world.store.getRepo = (id) =>
      id === 'one' ? Promise.reject(new Error('away')) : getRepo.call(world.store, id);
    expect(await resumeWaits(world)).toBe(1);
    expect(world.queue.delayed).toMatchObject([{ repoId: 'two' }]);
  });
});

describe('events (E10)', () => {
  test('a storm marks due at most once per window, and one look begins after its last event', async () => {
    const world = await givenWorld();
    const lastEventAt: number[] = [];
    for (let event = 0; event < 3000; event += 1) {
      await wakeForEvent(world, 'repo-1');
      lastEventAt[0] = world.clock.now();
      await world.clock.advance(20);
    }
    const windows = 60_000 / EVENT_WAKE_WINDOW_MS;
    const marks = (await world.store.getRepo('repo-1'))?.wakeSeq ?? 0;
    expect(marks).toBeLessThanOrEqual(windows + 2);
    expect(marks).toBeGreaterThanOrEqual(windows - 1);
    const lookAt = Math.max(...world.queue.delayed.map((wake) => wake.visibleAt));
    expect(lookAt).toBeGreaterThan(lastEventAt[0] ?? 0);
    expect(lookAt - (lastEventAt[0] ?? 0)).toBeLessThanOrEqual(EVENT_WAKE_WINDOW_MS + 1000);
  });

  test('every event is followed by a look, whatever its time within a window', async () => {
    for (let offset = 0; offset < EVENT_WAKE_WINDOW_MS; offset += 250) {
      const world = await givenWorld();
      await world.clock.advance(offset);
      await wakeForEvent(world, 'repo-1');
      await world.clock.advance(1500);
      const at = world.clock.now();
      await wakeForEvent(world, 'repo-1');
      const looks = [
        ...world.queue.wakes.map((wake) => wake.at),
        ...world.queue.delayed.map((wake) => wake.visibleAt),
      ];
      expect([offset, looks.some((look) => look >= at)]).toEqual([offset, true]);
    }
  });

  test('two repos do not share a window', async () => {
    const world = await givenWorld([givenRepo(), givenRepo({ id: 'repo-2', slug: 'acme/two' })]);
    expect(await wakeForEvent(world, 'repo-1')).toBe('woken');
    expect(await wakeForEvent(world, 'repo-2')).toBe('woken');
  });
});

describe('a delayed wake', () => {
  test('is forwarded while no other wake of the repo came, under a new number', async () => {
    const world = await givenWorld();
    expect(await forwardDelayedWake(world, { repoId: 'repo-1', wakeSeq: 0 })).toBe('forwarded');
    expect(world.queue.wakes.map((wake) => wake.wakeSeq)).toEqual([1]);
  });

  test('is dropped once another wake came, so that looks do not multiply', async () => {
    const world = await givenWorld();
    await wakeNow(world, 'repo-1');
    await wakeNow(world, 'repo-1');
    expect(await forwardDelayedWake(world, { repoId: 'repo-1', wakeSeq: 1 })).toBe('replaced');
    expect(world.queue.wakes).toHaveLength(2);
  });

  test('of an event is forwarded whatever happened', async () => {
    const world = await givenWorld();
    await wakeNow(world, 'repo-1');
    const wake = { repoId: 'repo-1', wakeSeq: UNCONDITIONAL_WAKE_SEQ };
    expect(await forwardDelayedWake(world, wake)).toBe('forwarded');
  });

  test('twice delivered wakes once', async () => {
    const world = await givenWorld([givenRepo()]);
    await wakeNow(world, 'repo-1');
    const wake = { repoId: 'repo-1', wakeSeq: 1 };
    expect(await forwardDelayedWake(world, wake)).toBe('forwarded');
    expect(await forwardDelayedWake(world, wake)).toBe('replaced');
  });

  test('of a queue that was switched off is forwarded: the worker decides whether something is left to take back', async () => {
    const world = await givenWorld([givenRepo({ queueEnabled: false, dueAt: null })]);
    expect(await forwardDelayedWake(world, { repoId: 'repo-1', wakeSeq: 7 })).toBe('forwarded');
    await world.clock.advance(20_000);
    expect(await forwardDelayedWake(world, { repoId: 'repo-1', wakeSeq: 7 })).toBe('forwarded');
    const numbers = world.queue.wakes.map((wake) => wake.wakeSeq);
    expect(new Set(numbers).size).toBe(2);
  });

  test('of a deleted repo is nothing', async () => {
    const world = await givenWorld();
    await world.store.deleteRepo(givenRepo());
    expect(await forwardDelayedWake(world, { repoId: 'repo-1', wakeSeq: 0 })).toBe('gone');
  });
});

describe('the tick', () => {
  test('wakes every due repo, poll and webhook mode alike, oldest due first (A60)', async () => {
    const world = await givenWorld([
      givenRepo({ id: 'repo-1', slug: 'acme/1', dueAt: 3, wakeupMode: 'webhook' }),
      givenRepo({ id: 'repo-2', slug: 'acme/2', dueAt: 1 }),
      givenRepo({ id: 'repo-3', slug: 'acme/3', dueAt: 2 }),
      givenRepo({ id: 'repo-4', slug: 'acme/4', dueAt: Date.UTC(2030, 0, 1) }),
      givenRepo({ id: 'repo-5', slug: 'acme/5', queueEnabled: false, dueAt: null }),
    ]);
    expect(await wakeDueRepos(world)).toEqual({ due: 3, woken: 3, held: 0, failed: 0, left: 0 });
    expect(world.queue.wakes.map((wake) => wake.repoId)).toEqual(['repo-2', 'repo-3', 'repo-1']);
  });

  test('one repo that fails keeps no other waiting (A49)', async () => {
    const repos = Array.from({ length: 40 }, (_, n) =>
      givenRepo({ id: `repo-${n}`, slug: `acme/${n}`, dueAt: n }),
    );
    const world = await givenWorld(repos);
    world.queue.failFor = 'repo-7';
    expect(await wakeDueRepos(world)).toEqual({ due: 40, woken: 39, held: 0, failed: 1, left: 0 });
  });

  test('a tick that comes 0.2 s early is not swallowed: each has a number of its own (E9)', async () => {
    const world = await givenWorld();
    await wakeDueRepos(world);
    await world.clock.advance(299_800);
    await wakeDueRepos(world);
    expect(new Set(world.queue.wakes.map((wake) => wake.wakeSeq)).size).toBe(2);
  });

  test('dispatches ten thousand repos in one go (D-84)', async () => {
    const repos = Array.from({ length: 10_000 }, (_, n) =>
      givenRepo({ id: `repo-${n}`, slug: `acme/${n}`, dueAt: n }),
    );
    const world = await givenWorld(repos);
    expect(await wakeDueRepos(world)).toMatchObject({ woken: 10_000, left: 0 });
  });

  test('stops before its time is over, notes that it ran, and leaves the rest due for the next', async () => {
    const repos = Array.from({ length: 100 }, (_, n) =>
      givenRepo({ id: `repo-${n}`, slug: `acme/${n}`, dueAt: n }),
    );
    const world = await givenWorld(repos);
    const send = world.queue.sendWake.bind(world.queue);
    world.queue.sendWake = async (...wake) => {
      await world.clock.advance(TICK_SENDS_MS / 50);
      return send(...wake);
    };
    const result = await wakeDueRepos(world);
    expect(result.woken + result.left).toBe(100);
    expect(result.left).toBeGreaterThan(25);
    expect(await world.store.loadLastTick()).not.toBeNull();
    expect(await world.store.listDueRepos(world.clock.now(), 1_000)).toHaveLength(100);
  });
});
