import { grantHeldLease, type HeldLease } from '#core/domain/wakes/lease.ts';

/** A lease that never ends, for a test that is not about leases. */
export function givenHeldLease(repoId = 'repo-1'): HeldLease {
  return grantHeldLease(repoId, { fence: 1, expiresAt: Number.MAX_SAFE_INTEGER }, () => 0, 1);
}
