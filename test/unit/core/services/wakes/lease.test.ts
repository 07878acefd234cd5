import { createUuidIds } from '#core/adapters/system/ids.ts';
import { LEASE_SAFETY_MARGIN_MS, LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import { StoreError } from '#core/ports/store.ts';
import { adoptLease, withLease } from '#core/services/wakes/lease.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { SteppedClock } from '../../../../support/stepped-clock.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const REPO = 'repo-1';

const DEADLINE_MS = LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS;

async function suspend(clock: SteppedClock): Promise<void> {
  clock.suspend();
  await clock.advance(DEADLINE_MS);
  clock.wakeUp();
}

function givenDeps() {
  const clock = new VirtualClock();
  const leases = createMemoryStore({ clock });
  return { clock, leases, ids: createUuidIds() };
}

describe('withLease', () => {
  test('performs once at a time; who comes second skips (A40)', async () => {
    const deps = givenDeps();
    const run = (value: string) => withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async () => value);
    const outer = await withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async () => run('inner'));
    expect(outer).toEqual({ kind: 'performed', value: { kind: 'skipped' } });
    expect(await run('after')).toEqual({ kind: 'performed', value: 'after' });
  });

  test('the deadline lies before the end of the lease by the safety margin (A41)', async () => {
    const deps = givenDeps();
    await withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async (held) => {
      await deps.clock.advance(LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS - 1);
      expect(held.isPastDeadline()).toBe(false);
      await deps.clock.advance(1);
      expect(held.isPastDeadline()).toBe(true);
      expect(held.expiresAt - deps.clock.now()).toBe(LEASE_SAFETY_MARGIN_MS);
    });
  });

  test.each([
    ['was suspended', suspend],
    ['has its wall clock set forward', async (clock: SteppedClock) => clock.put(DEADLINE_MS)],
  ])('a machine that %s keeps no lease longer than the others believe it to (A41)', async (_what, befall) => {
    const time = new VirtualClock();
    const clock = new SteppedClock(time);
    const leases = createMemoryStore({ clock });
    await withLease(
      { clock, leases, ids: createUuidIds() },
      REPO,
      'reconcile',
      LEASE_TTL_MS,
      async (held) => {
        const adopted = await adoptLease({ clock, leases }, REPO, held.fence);
        await befall(clock);
        expect([held.isPastDeadline(), adopted?.isPastDeadline()]).toEqual([true, true]);
      },
    );
  });

  test('a slow answer of the store shortens the deadline', async () => {
    const deps = givenDeps();
    deps.leases.afterCall = async (label) => {
      if (label === 'acquireLease') await deps.clock.advance(10_000);
    };
    await withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async (held) => {
      await deps.clock.advance(LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS - 10_000);
      expect(held.isPastDeadline()).toBe(true);
    });
  });

  test('releases after a throw, and passes the throw on', async () => {
    const deps = givenDeps();
    const failing = withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async () => {
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    expect(await deps.leases.readLeaseState(REPO)).toBe('idle');
  });

  test('a release that cannot be written costs only the rest of the lease', async () => {
    const deps = givenDeps();
    deps.leases.beforeCall = (label) => {
      if (label === 'releaseLease') throw new StoreError('unavailable', label);
    };
    const result = await withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async () => 'value');
    expect(result).toEqual({ kind: 'performed', value: 'value' });
    expect(await deps.leases.readLeaseState(REPO)).toBe('held');
    await deps.clock.advance(LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS);
    const next = await withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async (held) => held.fence);
    expect(next).toEqual({ kind: 'performed', value: 2 });
  });

  test('an acquire that fails runs nothing', async () => {
    const deps = givenDeps();
    deps.leases.beforeCall = (label) => {
      throw new StoreError('unavailable', label);
    };
    let ran = false;
    const failing = withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async () => {
      ran = true;
    });
    await expect(failing).rejects.toMatchObject({ kind: 'unavailable' });
    expect(ran).toBe(false);
  });

  test('a lease under which a call may still be under way is left to run out', async () => {
    const deps = givenDeps();
    const leaveRunning = (answer: string) => answer === 'unreachable';
    const ask = (answer: string) =>
      withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async () => answer, { leaveRunning });
    await ask('ok');
    expect(await deps.leases.readLeaseState(REPO)).toBe('idle');
    await ask('unreachable');
    expect(await deps.leases.readLeaseState(REPO)).toBe('held');
    expect(await ask('ok')).toEqual({ kind: 'skipped' });
  });
});

describe('adoptLease', () => {
  test('gives the running lease with exactly this fence, with a deadline of its own', async () => {
    const deps = givenDeps();
    await withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async (held) => {
      await deps.clock.advance(5_000);
      const adopted = await adoptLease(deps, REPO, held.fence);
      expect(adopted).toMatchObject({ repoId: REPO, fence: held.fence, expiresAt: held.expiresAt });
      await deps.clock.advance(LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS - 5_000);
      expect(adopted?.isPastDeadline()).toBe(true);
      expect(await adoptLease(deps, REPO, held.fence - 1)).toBeNull();
      expect(await adoptLease(deps, REPO, held.fence + 1)).toBeNull();
    });
  });

  test('an engine whose clock is late makes it no longer', async () => {
    const { clock: time, leases, ids } = givenDeps();
    const late = new SteppedClock(time);
    late.put(-50_000);
    await withLease({ clock: time, leases, ids }, REPO, 'reconcile', LEASE_TTL_MS, async (held) => {
      const adopted = await adoptLease({ clock: late, leases }, REPO, held.fence);
      await time.advance(LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS);
      expect(adopted?.isPastDeadline()).toBe(true);
    });
  });

  test('is null when the lease was never held, is released, or has expired', async () => {
    const deps = givenDeps();
    expect(await adoptLease(deps, REPO, 0)).toBeNull();
    await withLease(deps, REPO, 'reconcile', LEASE_TTL_MS, async () => {});
    expect(await adoptLease(deps, REPO, 1)).toBeNull();
    await deps.leases.acquireLease(REPO, 'owner', 'reconcile', LEASE_TTL_MS);
    await deps.clock.advance(LEASE_TTL_MS);
    expect(await adoptLease(deps, REPO, 2)).toBeNull();
  });

  test('a lease that cannot be read is an error, never "not held" (A51)', async () => {
    const deps = givenDeps();
    deps.leases.corrupt('lease', REPO);
    await expect(adoptLease(deps, REPO, 1)).rejects.toMatchObject({ kind: 'unreadable' });
  });
});
