import type { Family } from '../families.ts';
import type { Mutant } from '../mutants.ts';

const HURT: readonly Family[] = ['workers', 'everything', 'fleet'];

/** Guards of the lease of a repository: one engine at a time is at work on it. */
export const LEASE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'the fence of a request (A40)',
    file: 'core/services/wakes/lease.ts',
    find: 'if (grant === null || grant.fence !== fence) return null;',
    replace: 'if (grant === null) return null;',
    families: HURT,
    dies: 'a request comes under the lease of another',
  },
  {
    guard: 'the deadline before a lease ends (A41)',
    file: 'core/domain/wakes/lease.ts',
    find: 'monotonicNow() >= deadlineMonotonicMs || (wallNow !== undefined && wallNow() >= wallDeadline)',
    replace: 'monotonicNow() < 0',
    families: HURT,
    dies: { family: 'workers', seed: 1 },
  },
  {
    guard: 'a lease is left running while its engine may be at work',
    file: 'core/services/wakes/lease.ts',
    find: 'release = options.leaveRunning?.(value) !== true;',
    replace: 'release = true;',
    families: HURT,
    dies: { family: 'workers', seed: 0 },
  },
  {
    guard: 'the grace before a lease is taken over (E7)',
    file: 'core/domain/limits.ts',
    find: 'export const LEASE_TAKEOVER_GRACE_MS = 12_000;',
    replace: 'export const LEASE_TAKEOVER_GRACE_MS = 0;',
    families: HURT,
    dies: 'a lease is taken over',
  },
];
