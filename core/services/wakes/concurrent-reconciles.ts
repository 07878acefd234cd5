import { LEASE_TTL_MS } from '../../domain/limits.ts';
import type { ManagedRepo, ReconcileOutcome } from '../../domain/repos/repo.ts';
import { hostOf, mayBegin, sectionOf, standingOf } from '../../domain/wakes/fairness.ts';
import type { ReconcileStore } from '../../ports/store.ts';
import type { Clock, Ids } from '../../ports/system.ts';

export interface ConcurrencyDeps {
  readonly store: ReconcileStore;
  readonly ids: Ids;
  readonly clock: Pick<Clock, 'now'>;
  /** Reconciles that run at the same time, over all repositories; the shares of tenants and forges are parts of it. */
  readonly workersMax: number;
}

/**
 * A reconcile within the limits of concurrent ones. One that was lost (`isLost`) counts until the engine must have
 * ended. `last`: the repo's outcome before it.
 */
export async function withinLimits<Result extends { readonly kind: string; readonly isLost?: boolean }>(
  { store, ids, clock, workersMax }: ConcurrencyDeps,
  repo: Pick<ManagedRepo, 'id' | 'tenantId' | 'instanceUrl'>,
  last: ReconcileOutcome | null,
  reconcile: () => Promise<Result>,
): Promise<Result | { readonly kind: 'crowded' }> {
  const next = {
    id: ids.uuid(),
    repoId: repo.id,
    tenantId: repo.tenantId,
    host: hostOf(repo.instanceUrl),
    standing: standingOf(last, clock.now()),
  };
  const { section, workers } = sectionOf(repo.id, workersMax);
  const isAllowed = await store.beginReconcile(
    next,
    LEASE_TTL_MS,
    (others) => mayBegin(others, next, workers),
    section,
  );
  if (!isAllowed) return { kind: 'crowded' };
  let isLost = false;
  try {
    const result = await reconcile();
    isLost = result.isLost === true;
    return result;
  } finally {
    if (!isLost) await endQuietly(store, next.id, section);
  }
}

async function endQuietly(store: ReconcileStore, id: string, section: number): Promise<void> {
  try {
    await store.endReconcile(id, section);
  } catch {
    // The work is done and its result counts; the entry ends by itself.
  }
}
