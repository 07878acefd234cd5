import { AppError } from '../../contracts/errors.ts';
import type { RepoId, TenantId } from '../../domain/ids.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import {
  ceilingOf,
  FREE_PLAN,
  isEntitling,
  type Plan,
  type PlanLimitsTable,
  repoIdsOnHold,
} from '../../domain/tenants/billing.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import { type EnrollmentStore, StoreError } from '../../ports/store.ts';

type PlanStore = Pick<AccountStore, 'loadPlan'>;

/** For code that enforces plans. */
export interface PlanDeps {
  /** Quotas of each tier in this deployment. */
  readonly planLimits: PlanLimitsTable;
}

/** The purchase of a tenant. Unreadable is `billing_unavailable`, never the free plan (A108). */
export async function readPlan(store: PlanStore, tenantId: TenantId): Promise<Plan> {
  try {
    return (await store.loadPlan(tenantId)) ?? FREE_PLAN;
  } catch (error) {
    if (error instanceof StoreError) throw new AppError('billing_unavailable');
    throw error;
  }
}

/** The repositories that the plan of a tenant allows. Throws `billing_unavailable`. */
export async function readCeiling(
  deps: PlanDeps & { readonly store: PlanStore },
  tenantId: TenantId,
): Promise<ReturnType<typeof ceilingOf>> {
  return ceilingOf(await readPlan(deps.store, tenantId), deps.planLimits);
}

/** Repos that are on hold for payment. A plan that cannot be read holds nothing (D-55). */
export async function listReposOnHold(
  store: PlanStore,
  tenantId: TenantId,
  repos: readonly ManagedRepo[],
  limits: PlanLimitsTable,
): Promise<ReadonlySet<RepoId>> {
  try {
    return repoIdsOnHold((await store.loadPlan(tenantId)) ?? FREE_PLAN, repos, limits);
  } catch (error) {
    if (error instanceof StoreError) return new Set();
    throw error;
  }
}

export type OnHoldStore = PlanStore & Pick<EnrollmentStore, 'listRepos'>;

/** Repos on hold of a tenant, for a caller that has none of its repos at hand: they are listed only where the plan does not entitle. */
export async function findReposOnHold(
  deps: PlanDeps & { readonly store: OnHoldStore },
  tenantId: TenantId,
): Promise<ReadonlySet<RepoId>> {
  try {
    const plan = (await deps.store.loadPlan(tenantId)) ?? FREE_PLAN;
    if (isEntitling(plan.status)) return new Set();
    return repoIdsOnHold(plan, await deps.store.listRepos(tenantId), deps.planLimits);
  } catch (error) {
    // A plan that cannot be read stops no main branch (A108).
    if (error instanceof StoreError) return new Set();
    throw error;
  }
}
