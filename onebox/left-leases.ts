import { LEASE_SAFETY_MARGIN_MS, TICK_REPOS_MAX } from '#core/domain/limits.ts';
import { countSections, workersOfOneTenant } from '#core/domain/wakes/fairness.ts';
import type { DispatchStore, LeaseStore, ReconcileStore } from '#core/ports/store.ts';
import type { Clock, Log } from '#core/ports/system.ts';

/**
 * The furthest that a clock was ahead, in ms: the dead process may have stored its times by a clock that has been set back
 * since. A lease that ends later is one of a move, which holds it for a hundred years.
 */
const CLOCK_AHEAD_MS_MAX = 50 * 365 * 86_400_000;

export interface LeftParts {
  readonly store: Pick<DispatchStore, 'listDueRepos'> &
    Pick<LeaseStore, 'readLease' | 'shortenLease'> &
    Pick<ReconcileStore, 'forgetReconciles'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly workers: number;
}

/**
 * Ends what a dead process held: shortens its leases, and counts its reconciles as over. A call that it had sent may
 * still arrive, so margin and grace pass from now to the takeover, as after the last call of a holder that lives.
 */
export async function endLeftLeases({ store, clock, log, workers }: LeftParts): Promise<void> {
  const now = clock.now();
  try {
    const sections = countSections(workersOfOneTenant(workers));
    for (let section = 0; section < sections; section += 1) await store.forgetReconciles(section);
    // One that was being worked on is due: an index may miss it, and its lease then ends by itself.
    for (const repoId of await store.listDueRepos(now + CLOCK_AHEAD_MS_MAX, TICK_REPOS_MAX)) {
      const lease = await store.readLease(repoId);
      if (lease === null || lease.expiresAt > now + CLOCK_AHEAD_MS_MAX) continue;
      await store.shortenLease(repoId, lease, now + LEASE_SAFETY_MARGIN_MS);
    }
  } catch (error) {
    log.warn('what a process of before left behind ends by itself', { error });
  }
}
