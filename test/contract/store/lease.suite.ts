import { randomUUID } from 'node:crypto';
import { LEASE_TAKEOVER_GRACE_MS } from '#core/domain/limits.ts';
import type { World } from './subject.ts';
import { kindOf, TTL_MS, times } from './subject.ts';

export function describeLease(world: World): void {
  const acquire = (repoId: string) => world.store().acquireLease(repoId, randomUUID(), 'reconcile', TTL_MS);

  describe('lease', () => {
    test('50 workers at once: one gets it (A40)', async () => {
      const repoId = randomUUID();
      const answers = await Promise.all(times(50, () => acquire(repoId)));
      expect(answers.filter((answer) => answer !== 'held')).toEqual([
        { fence: 1, expiresAt: world.clock.now() + TTL_MS },
      ]);
    });

    test('a released lease is free at once, and the fence grows for ever', async () => {
      const repoId = randomUUID();
      for (const fence of [1, 2, 3]) {
        const grant = await acquire(repoId);
        expect(grant).toMatchObject({ fence });
        if (grant !== 'held') await world.store().releaseLease(repoId, grant);
      }
    });

    test('an expired lease is taken over only after the grace, with a larger fence (E7)', async () => {
      const repoId = randomUUID();
      await acquire(repoId);
      await world.clock.advance(TTL_MS + LEASE_TAKEOVER_GRACE_MS - 1);
      expect(await acquire(repoId)).toBe('held');
      await world.clock.advance(1);
      expect(await acquire(repoId)).toMatchObject({ fence: 2 });
    });

    test('an old holder cannot release the lease of the new one', async () => {
      const repoId = randomUUID();
      const old = await world.hold(repoId);
      await world.clock.advance(TTL_MS + LEASE_TAKEOVER_GRACE_MS);
      const grant = await acquire(repoId);
      await world.store().releaseLease(repoId, { fence: old.fence, expiresAt: old.expiresAt });
      expect(await world.store().readLease(repoId)).toEqual(grant);
      expect(await acquire(repoId)).toBe('held');
    });

    test('a lease is shortened under its own fence alone, never made longer, and the grace follows its end', async () => {
      const repoId = randomUUID();
      const store = world.store();
      const grant = await acquire(repoId);
      if (grant === 'held') throw new Error('held');
      const until = world.clock.now() + 15_000;
      const none = { ...grant, fence: grant.fence + 1 };
      await store.shortenLease(repoId, none, until);
      await store.shortenLease(repoId, grant, grant.expiresAt + 1);
      expect(await store.readLease(repoId)).toEqual(grant);
      await store.shortenLease(repoId, grant, until);
      expect(await store.readLease(repoId)).toEqual({ ...grant, expiresAt: until });
      await world.clock.advance(15_000 + LEASE_TAKEOVER_GRACE_MS - 1);
      expect(await acquire(repoId)).toBe('held');
      await world.clock.advance(1);
      const next = await acquire(repoId);
      expect(next).toMatchObject({ fence: grant.fence + 1 });
      if (next === 'held') throw new Error('held');
      await store.releaseLease(repoId, next);
      await store.shortenLease(repoId, next, world.clock.now() + 15_000);
      expect(await store.readLeaseState(repoId)).toBe('idle');
    });

    test('the state is idle, held, idle again; the grant is readable only while it runs', async () => {
      const repoId = randomUUID();
      const store = world.store();
      expect(await store.readLeaseState(repoId)).toBe('idle');
      expect(await store.readLease(repoId)).toBeNull();
      const grant = await acquire(repoId);
      expect(await store.readLeaseState(repoId)).toBe('held');
      expect(await store.readLease(repoId)).toEqual(grant);
      await world.clock.advance(TTL_MS);
      expect(await store.readLeaseState(repoId)).toBe('idle');
      expect(await store.readLease(repoId)).toBeNull();
    });

    test('an unreadable lease is unknown, never idle, and is not granted (A51)', async () => {
      const { repo } = await world.enroll();
      await world.hold(repo.id);
      await world.subject().corrupt('lease', repo);
      expect(await world.store().readLeaseState(repo.id)).toBe('unknown');
      expect(await kindOf(world.store().readLease(repo.id))).toBe('unreadable');
      await world.clock.advance(10 * TTL_MS);
      expect(await kindOf(acquire(repo.id))).toBe('unreadable');
    });
  });
}
