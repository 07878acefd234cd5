import { AppError } from '../../contracts/errors.ts';
import type { Offboarded } from '../../contracts/tenants/account.ts';
import { OFFBOARD_POLL_MS, OFFBOARD_WAIT_MS } from '../../domain/api-limits.ts';
import { REFUSAL_CAUSES } from '../../domain/forge/refusal-cause.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { ManagedRepo, ReconcileOutcome } from '../../domain/repos/repo.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { BillingStore } from '../../ports/billing-store.ts';
import type { OpenPayments } from '../../ports/payments.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Ids, Log } from '../../ports/system.ts';
import { askProvider } from '../billing/billing.ts';
import { buryRepo, type DeletionDeps } from '../repos/delete-repo.ts';
import { type EraseStore, eraseTenant } from './erase-tenant.ts';

export interface OffboardDeps extends DeletionDeps {
  readonly store: DeletionDeps['store'] &
    EraseStore &
    Pick<AccountStore, 'markTenantDeleting' | 'listOutcomes' | 'countHistory' | 'loadOrganization'> &
    Pick<DispatchStore, 'loadReconcileOutcome'> &
    Pick<BillingStore, 'loadBilling'>;
  readonly openPayments: OpenPayments;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * Deletes a tenant in dependency order. What it pays for ends first: a provider that refuses leaves everything as it was.
 * Then comes the mark: nothing new is created for it. Then each queue is wound down as that of a deleted repository: a
 * success that outlived its rows would merge what is not proven (A24). Rows go when nothing of ours is left on a forge, at
 * the latest after an hour: by this request if that is soon, else by the worker or by the same request again (A100, D-62).
 * Webhooks and rules stay on the forge on purpose.
 */
export async function offboardTenant(
  deps: OffboardDeps,
  tenantId: TenantId,
  confirm: string,
): Promise<Offboarded> {
  if (confirm !== tenantId) throw new AppError('confirm_mismatch');
  const end = deps.clock.monotonic() + OFFBOARD_WAIT_MS;
  await endPayments(deps, tenantId);
  await deps.store.markTenantDeleting(tenantId);
  // A program must not go on with an account that leaves. None is made after the mark.
  await deps.store.deleteHistory(tenantId, 'tokens');
  // Ends the checkouts that were begun before the mark. From here on no page is handed out.
  await endPayments(deps, tenantId);
  // Counted now: the worker deletes what goes with the last repository.
  const deleted = await countRows(deps, tenantId);
  await windDownAll(deps, tenantId, end);
  await eraseTenant(deps.store, tenantId);
  deps.log.info('tenant offboarded', { tenant_id: tenantId });
  return { offboarded: true, tenant_id: tenantId, deleted };
}

async function countRows({ store }: OffboardDeps, tenantId: TenantId): Promise<Offboarded['deleted']> {
  return {
    reconcile_status: (await store.listOutcomes(tenantId)).size,
    managed_repos: (await store.listRepos(tenantId)).length,
    forge_connections: (await store.listConnections(tenantId)).length,
    audit_log: await store.countHistory(tenantId, 'audit'),
    billing: (await store.loadBilling(tenantId)) === null ? 0 : 1,
    organization: (await store.loadOrganization(tenantId)) === null ? 0 : 1,
  };
}

/** Returns once no repository of the tenant is left; else says what is waited for. */
async function windDownAll(deps: OffboardDeps, tenantId: TenantId, end: number): Promise<void> {
  const { store, clock } = deps;
  for (const repo of await store.listRepos(tenantId)) {
    if (clock.monotonic() >= end) throw new AppError('queue_locked', { message: STILL_AT_WORK });
    await buryRepo(deps, repo);
  }
  for (;;) {
    const left = await store.listRepos(tenantId);
    if (left.length === 0) return;
    if (clock.monotonic() >= end) throw await refusalOf(deps, left);
    await clock.sleep(OFFBOARD_POLL_MS);
  }
}

const GOES_ON =
  'This is tried for an hour; then everything is deleted. Send the request again to see whether it is done.';
const STILL_AT_WORK = `Your queues still take back what they posted. ${GOES_ON}`;
const UNREACHABLE = `A forge cannot be reached, so what the queue posted there still stands. ${GOES_ON}`;
const REFUSED = `A forge refuses the stored token, so what the queue posted there still stands. ${GOES_ON}`;

function refusedWords({ refusal }: Pick<ReconcileOutcome, 'refusal'>): string {
  if (refusal === undefined) return REFUSED;
  return `${REFUSAL_CAUSES[refusal].says}. What the queue posted there still stands. ${GOES_ON}`;
}

/** Why the first of them is not done, as far as its newest look says. */
async function refusalOf(deps: OffboardDeps, left: readonly ManagedRepo[]): Promise<AppError> {
  for (const repo of left) {
    const outcome = await deps.store.loadReconcileOutcome(repo);
    if (outcome === null || outcome.ranAt < repo.updatedAt) continue;
    if (outcome.errorCode === 'forge_unreachable') {
      return new AppError('forge_unreachable', { message: UNREACHABLE });
    }
    if (outcome.errorCode === 'forge_access_denied') {
      return new AppError('forge_access_denied', { message: refusedWords(outcome) });
    }
  }
  return new AppError('queue_locked', { message: STILL_AT_WORK });
}

/** A tenant that is gone must not pay: pages close before what was bought on them is cancelled. Asked again, it ends what is left. */
async function endPayments(deps: OffboardDeps, tenantId: TenantId): Promise<void> {
  const account = await deps.store.loadBilling(tenantId);
  if (account === null || account.customerId === null) return;
  const { customerId } = account;
  const payments = await askProvider(deps, () => deps.openPayments());
  // Payments were switched off in this deployment; what the provider charges goes on.
  if (payments === null) {
    if (account.subscriptionId === null || account.status === 'canceled') return;
    throw new AppError('payments_not_configured');
  }
  // Its subscriptions ended with it (https://docs.stripe.com/api/customers/delete), and no page of it can be asked for.
  if (await askProvider(deps, () => payments.isCustomerDeleted(customerId))) return;
  await askProvider(deps, () => payments.closeCheckouts(customerId, deps.ids.uuid()));
  const listed = await askProvider(deps, () => payments.listSubscriptions(customerId));
  for (const { id, status } of listed) {
    if (status !== 'ended') await askProvider(deps, () => payments.cancelSubscription(id, deps.ids.uuid()));
  }
}
