import { type Offboarded, type TenantExport, toTenantExport } from '../contracts/account.ts';
import { AppError } from '../contracts/errors.ts';
import { EXPORT_AUDIT_MAX, EXPORT_OUTCOMES_MAX } from '../domain/api-limits.ts';
import { FREE_PLAN } from '../domain/billing.ts';
import type { TenantId } from '../domain/ids.ts';
import type { AccountStore, RealtimeStore } from '../ports/account-store.ts';
import type { BillingStore } from '../ports/billing-store.ts';
import type { EnrollmentStore } from '../ports/store.ts';
import type { Clock, Log } from '../ports/system.ts';
import { cascade } from './delete-connection.ts';

export interface AccountDeps {
  readonly store: AccountStore &
    EnrollmentStore &
    Pick<BillingStore, 'loadBilling'> &
    Pick<RealtimeStore, 'listSockets' | 'removeSocket'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** Everything stored about a tenant, secrets as `[redacted]` (A70). */
export async function exportTenant(deps: AccountDeps, tenantId: TenantId): Promise<TenantExport> {
  const { store } = deps;
  const [tenant, connections, repos, outcomes, audit, billing] = await Promise.all([
    store.loadTenant(tenantId),
    store.listConnections(tenantId),
    store.listRepos(tenantId),
    store.listOutcomes(tenantId),
    store.listAudit(tenantId, EXPORT_AUDIT_MAX + 1),
    store.loadBilling(tenantId),
  ]);
  const rows = [...outcomes];
  return toTenantExport({
    // A tenant is made at its first change; until then there is nothing but its id.
    tenant: tenant ?? { id: tenantId, createdAt: deps.clock.now() },
    // What is deleted is nobody's data any more, also while it waits for the engine.
    connections: connections.filter((connection) => !connection.deleting),
    repos: repos.filter((repo) => !repo.tombstone),
    outcomes: rows.slice(0, EXPORT_OUTCOMES_MAX),
    outcomesTruncated: rows.length > EXPORT_OUTCOMES_MAX,
    audit: audit.slice(0, EXPORT_AUDIT_MAX),
    auditTruncated: audit.length > EXPORT_AUDIT_MAX,
    billing: billing ?? { ...FREE_PLAN, customerId: null, subscriptionId: null },
  });
}

/**
 * Deletes a tenant in dependency order. The mark comes first: nothing new is created for it, and whatever a crash leaves
 * is deleted by the next call (A100, D-62). What the forge has of us stays there on purpose.
 */
export async function offboardTenant(
  deps: AccountDeps,
  tenantId: TenantId,
  confirm: string,
): Promise<Offboarded> {
  if (confirm !== tenantId) throw new AppError('confirm_mismatch');
  const { store } = deps;
  const existed = await store.markTenantDeleting(tenantId);
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
      organization: existed ? 1 : 0,
    },
  };
}
