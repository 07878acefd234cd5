import type { RepoId } from '../../domain/ids.ts';
import { LEASE_SAFETY_MARGIN_MS, LEASE_TTL_MS } from '../../domain/limits.ts';
import type { HeldLease, LeaseGrant } from '../../domain/wakes/lease.ts';
import { grantHeldLease } from '../../domain/wakes/lease.ts';
import type { LeaseStore } from '../../ports/store.ts';
import type { Clock, Ids } from '../../ports/system.ts';

export interface LeaseDeps {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly ids: Ids;
}

export type LeaseResult<T> = { readonly kind: 'performed'; readonly value: T } | { readonly kind: 'skipped' };

export interface LeaseOptions<T> {
  /**
   * True when another process may still be acting under this lease although `run` has returned, for example an engine that
   * did not answer in time. The lease then runs out by itself instead of being released to the next worker (A40).
   */
  readonly leaveRunning?: (value: T) => boolean;
}

/**
 * Runs `run` as the only worker of one repo, or skips when another one is at it (A40). Contention is an outcome, not an
 * error. Releases at the end, also after a throw; a release that cannot be written only costs the rest of the lease.
 */
export async function withLease<T>(
  deps: LeaseDeps,
  repoId: RepoId,
  purpose: string,
  ttlMs: number,
  run: (held: HeldLease) => Promise<T>,
  options: LeaseOptions<T> = {},
): Promise<LeaseResult<T>> {
  // Read before the call: time that the answer takes is taken off the deadline, never added to it.
  const askedAtMonotonicMs = deps.clock.monotonic();
  const grant = await deps.leases.acquireLease(repoId, deps.ids.uuid(), purpose, ttlMs);
  if (grant === 'held') return { kind: 'skipped' };
  const deadlineMs = askedAtMonotonicMs + ttlMs - LEASE_SAFETY_MARGIN_MS;
  const held = hold(deps, repoId, grant, deadlineMs);
  let release = true;
  try {
    const value = await run(held);
    release = options.leaveRunning?.(value) !== true;
    return { kind: 'performed', value };
  } finally {
    if (release) await releaseQuietly(deps.leases, repoId, grant);
  }
}

async function releaseQuietly(leases: LeaseStore, repoId: RepoId, grant: LeaseGrant): Promise<void> {
  try {
    await leases.releaseLease(repoId, grant);
  } catch {
    // The work is done and its result counts; the lease ends by itself.
  }
}

/**
 * The engine's side: the worker acquired the lease and named its fence in the request. Null unless the lease is running
 * with exactly this fence, so a late request cannot act under a newer lease. Throws `StoreError` when unreadable (A51).
 */
export async function adoptLease(
  deps: Pick<LeaseDeps, 'leases' | 'clock'>,
  repoId: RepoId,
  fence: number,
): Promise<HeldLease | null> {
  const askedAtMonotonicMs = deps.clock.monotonic();
  const grant = await deps.leases.readLease(repoId);
  if (grant === null || grant.fence !== fence) return null;
  // The worker's clock gave it its end: one that is late here must not make it longer than leases are.
  const remainingMs = Math.min(grant.expiresAt - deps.clock.now(), LEASE_TTL_MS);
  const deadlineMs = askedAtMonotonicMs + remainingMs - LEASE_SAFETY_MARGIN_MS;
  return hold(deps, repoId, grant, deadlineMs);
}

function hold(
  { clock }: Pick<LeaseDeps, 'clock'>,
  repoId: RepoId,
  grant: LeaseGrant,
  deadlineMs: number,
): HeldLease {
  return grantHeldLease(
    repoId,
    grant,
    () => clock.monotonic(),
    deadlineMs,
    () => clock.now(),
  );
}
