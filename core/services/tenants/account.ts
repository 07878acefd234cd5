import { type TenantExport, toTenantExport } from '../../contracts/tenants/account.ts';
import { EXPORT_AUDIT_MAX, EXPORT_OUTCOMES_MAX } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { FREE_PLAN } from '../../domain/tenants/billing.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { AuthorStore } from '../../ports/author-store.ts';
import type { BillingStore } from '../../ports/billing-store.ts';
import type { EnrollmentStore } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';
import type { TokenStore } from '../../ports/token-store.ts';

export interface AccountDeps {
  readonly store: AccountStore &
    EnrollmentStore &
    Pick<BillingStore, 'loadBilling'> &
    Pick<AuthorStore, 'listAuthorNotices'>;
  readonly tokens: Pick<TokenStore, 'listApiTokens'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Everything stored about a tenant, secrets as `[redacted]` (A70). */
export async function exportTenant(deps: AccountDeps, tenantId: TenantId): Promise<TenantExport> {
  const { store } = deps;
  const [tenant, organization, connections, repos, outcomes, audit, billing, apiTokens, authors] =
    await Promise.all([
      store.loadTenant(tenantId),
      store.loadOrganization(tenantId),
      store.listConnections(tenantId),
      store.listRepos(tenantId),
      store.listOutcomes(tenantId),
      store.listAudit(tenantId, EXPORT_AUDIT_MAX + 1),
      store.loadBilling(tenantId),
      deps.tokens.listApiTokens(tenantId),
      store.listAuthorNotices(tenantId),
    ]);
  const rows = [...outcomes];
  return toTenantExport({
    // A tenant is made at its first change; until then there is nothing but its id.
    tenant: tenant ?? { id: tenantId, createdAt: deps.clock.now() },
    organization,
    // A deleted repo is not exported, also while it waits for the engine.
    connections: connections.filter((connection) => !connection.deleting),
    repos: repos.filter((repo) => !repo.tombstone),
    outcomes: rows.slice(0, EXPORT_OUTCOMES_MAX),
    outcomesTruncated: rows.length > EXPORT_OUTCOMES_MAX,
    audit: audit.slice(0, EXPORT_AUDIT_MAX),
    auditTruncated: audit.length > EXPORT_AUDIT_MAX,
    tokens: apiTokens,
    authorNotices: authors,
    billing: billing ?? { ...FREE_PLAN, customerId: null, subscriptionId: null },
  });
}
