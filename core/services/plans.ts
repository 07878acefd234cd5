import { AppError } from '../contracts/errors.ts';
import { FREE_PLAN, heldRepoIds, type Plan } from '../domain/billing.ts';
import type { RepoId, TenantId } from '../domain/ids.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';
import { StoreError } from '../ports/store.ts';

type PlanStore = Pick<AccountStore, 'loadPlan'>;

/** What was bought. Unreadable is `billing_unavailable`, never the free plan (A108). */
export async function readPlan(store: PlanStore, tenantId: TenantId): Promise<Plan> {
  try {
    return (await store.loadPlan(tenantId)) ?? FREE_PLAN;
  } catch (error) {
    if (error instanceof StoreError) throw new AppError('billing_unavailable');
    throw error;
  }
}

/** Repos held for payment. A plan that cannot be read holds nothing that is not held otherwise (D-55). */
export async function readHolds(
  store: PlanStore,
  tenantId: TenantId,
  repos: readonly ManagedRepo[],
): Promise<ReadonlySet<RepoId>> {
  try {
    return heldRepoIds((await store.loadPlan(tenantId)) ?? FREE_PLAN, repos);
  } catch (error) {
    if (error instanceof StoreError) return new Set();
    throw error;
  }
}
