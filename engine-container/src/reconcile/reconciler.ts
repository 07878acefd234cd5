import type { ReconcileOrder, ReconcileRequest } from '#core/ports/system.ts';
import { adoptLease } from '#core/services/wakes/lease.ts';
import { EngineMemory } from './engine-memory.ts';
import { ForgeSpending } from './forge-spending.ts';
import { Reconcile } from './reconcile.ts';
import { ReconcileFigures } from './reconcile-figures.ts';
import type { ReconcilerDeps } from './reconciler-deps.ts';

/** The engine behind the internal endpoint: one reconcile of one repo under the lease with the ordered fence (A52, D-76). */
export function createReconciler(
  deps: ReconcilerDeps,
): (request: ReconcileRequest, order: ReconcileOrder) => Promise<'ok' | 'failed'> {
  const memory = deps.memory ?? new EngineMemory();
  const spending = deps.spending ?? new ForgeSpending();
  return async (request, { fence, command }) => {
    const { tenantId, instanceUrl, repoSlug: slug, baseBranch } = request;
    const repo = await deps.store.findRepo({ tenantId, instanceUrl, slug, baseBranch });
    if (repo === null) return 'failed';
    const held = await adoptLease({ leases: deps.store, clock: deps.clock }, repo.id, fence);
    if (held === null) return 'failed';
    // A queue that is deleted or ordered to wind down is like one that is off: it takes back what it posted (D-24).
    const windsDown = repo.tombstone || command === 'wind_down';
    const wanted = windsDown ? { ...repo, queueEnabled: false } : repo;
    const figures = new ReconcileFigures();
    const own = { ...deps, figures, spent: spending.open(repo.id, figures) };
    const reconcile = new Reconcile(own, request, wanted, held, memory);
    const errorCode = await reconcile.run();
    if (deps.meter !== undefined) figures.tell(deps.meter);
    return errorCode === null ? 'ok' : 'failed';
  };
}
