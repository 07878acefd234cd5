import type { EpochMs, RepoId } from '../ids.ts';
import { LEASE_SAFETY_MARGIN_MS } from '../limits.ts';

declare const heldLeaseBrand: unique symbol;

/**
 * Proof that the caller holds the lease of one repository. Only `grantHeldLease` makes one, and only the lease service
 * calls it. Every write of the engine demands it: the store's writes as an argument, the forge's by the `LeasedTransport`
 * that they are made from (A40, A41).
 */
export interface HeldLease {
  readonly [heldLeaseBrand]: true;
  readonly repoId: RepoId;
  /** Grows each time the lease is granted; the store refuses writes under an older one. */
  readonly fence: number;
  /** Wall-clock end of the lease. */
  readonly expiresAt: EpochMs;
  /** True once no further forge call may be sent: the lease could be taken over while the call is under way. */
  isPastDeadline(): boolean;
}

export const LEASE_STATES = ['idle', 'held', 'unknown'] as const;
export type LeaseState = (typeof LEASE_STATES)[number];

export interface LeaseGrant {
  readonly fence: number;
  readonly expiresAt: EpochMs;
}

/**
 * The only maker of `HeldLease`. Deadline in ms of a monotonic clock, and by the wall clock, where that one is given: a takeover
 * is judged by it, and it alone goes on while the machine is suspended.
 */
export function grantHeldLease(
  repoId: RepoId,
  grant: LeaseGrant,
  monotonicNow: () => number,
  deadlineMonotonicMs: number,
  wallNow?: () => EpochMs,
): HeldLease {
  const wallDeadline = grant.expiresAt - LEASE_SAFETY_MARGIN_MS;
  return {
    repoId,
    fence: grant.fence,
    expiresAt: grant.expiresAt,
    isPastDeadline: () =>
      monotonicNow() >= deadlineMonotonicMs || (wallNow !== undefined && wallNow() >= wallDeadline),
  } as HeldLease;
}
