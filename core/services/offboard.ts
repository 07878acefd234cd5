import type { Offboarded } from '../contracts/account.ts';
import { AppError } from '../contracts/errors.ts';
import type { TenantId } from '../domain/ids.ts';
import type { AccountStore, RealtimeStore } from '../ports/account-store.ts';
import type { BillingStore } from '../ports/billing-store.ts';
import type { OpenPayments } from '../ports/payments.ts';
import type { EnrollmentStore } from '../ports/store.ts';
import type { Ids, Log } from '../ports/system.ts';
import { askProvider } from './billing.ts';
import { cascade } from './delete-connection.ts';

export interface OffboardDeps {
  readonly store: AccountStore &
    EnrollmentStore &
    Pick<BillingStore, 'loadBilling'> &
    Pick<RealtimeStore, 'listSockets' | 'removeSocket'>;
  readonly openPayments: OpenPayments;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * Deletes a tenant in dependency order. What it pays for ends first: a provider that refuses leaves everything as it was.
 * Then comes the mark: nothing new is created for it, and whatever a crash leaves is deleted by the next call (A100, D-62).
 * What the forge has of us stays there on purpose.
 */
export async function offboardTenant(
  deps: OffboardDeps,
  tenantId: TenantId,
  confirm: string,
): Promise<Offboarded> {
  if (confirm !== tenantId) throw new AppError('confirm_mismatch');
  const { store } = deps;
  await endSubscriptions(deps, tenantId);
  await store.markTenantDeleting(tenantId);
  const outcomes = (await store.listOutcomes(tenantId)).size;
  const repos = await store.listRepos(tenantId);
  for (const repo of repos) await store.deleteRepo(repo);
  const connections = await store.listConnections(tenantId);
  for (const connection of connections) await cascade(store, connection);
  for (const socket of await store.listSockets(tenantId)) await store.removeSocket(socket);
  const audit = await store.deleteHistory(tenantId, 'audit');
  await store.deleteHistory(tenantId, 'events');
  await store.deleteHistory(tenantId, 'batches');
  const hadPlan = await store.deletePlan(tenantId);
  const hadOrganization = await store.deleteOrganization(tenantId);
  await store.deleteTenant(tenantId);
  deps.log.info('tenant offboarded', { tenant_id: tenantId });
  return {
    offboarded: true,
    tenant_id: tenantId,
    deleted: {
      reconcile_status: outcomes,
      managed_repos: repos.length,
      forge_connections: connections.length,
      audit_log: audit,
      billing: hadPlan ? 1 : 0,
      organization: hadOrganization ? 1 : 0,
    },
  };
}

/** Nobody pays for what is gone. Asked again, it cancels what is left. */
async function endSubscriptions(deps: OffboardDeps, tenantId: TenantId): Promise<void> {
  const account = await deps.store.loadBilling(tenantId);
  if (account === null || account.customerId === null) return;
  const { customerId } = account;
  const payments = await askProvider(deps, () => deps.openPayments());
  // Payments were switched off in this deployment; what the provider charges goes on.
  if (payments === null) {
    if (account.subscriptionId === null || account.status === 'canceled') return;
    throw new AppError('payments_not_configured');
  }
  const listed = await askProvider(deps, () => payments.listSubscriptions(customerId));
  for (const { id, status } of listed) {
    if (status !== 'ended') await askProvider(deps, () => payments.cancelSubscription(id, deps.ids.uuid()));
  }
}
