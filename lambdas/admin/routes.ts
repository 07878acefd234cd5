import { toCredentialStats, toRepoSearchRecord } from '#core/contracts/tenants/admin.ts';
import { toConnectionView } from '#core/contracts/tenants/connection.ts';
import { ADMIN_CONNECTIONS_MAX } from '#core/domain/api-limits.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import type { AccountStore, AdminStore } from '#core/ports/account-store.ts';
import type { LeaseStore } from '#core/ports/store.ts';
import { searchRepos } from '#core/services/operation/search-repos.ts';
import { type RepoRowsStore, readRowsOf } from '#core/services/repos/repo-facts.ts';

export interface AdminDeps {
  readonly store: AdminStore & RepoRowsStore & Pick<AccountStore, 'listOutcomes'>;
  readonly leases: Pick<LeaseStore, 'readLeaseState'>;
}

/** The operator's view over all tenants. No credential is read here, so none can leave (A72). */
export function createAdminRoutes({ store, leases }: AdminDeps): ApiHandlers<'admin'> {
  return {
    searchRepos: async ({ query }) => {
      const { q, limit, offset } = query;
      const found = await searchRepos({ store }, q, { offset, limit });
      const repos = await Promise.all(
        found.repos.map(async (repo) => {
          const [rows, lease] = await Promise.all([readRowsOf(store, repo), leases.readLeaseState(repo.id)]);
          return toRepoSearchRecord(rows, lease);
        }),
      );
      return { status: 200, body: { repos, limit, offset, total: found.total, order: found.order } };
    },
    listAllConnections: async () => {
      const rows = await store.listAllConnections(ADMIN_CONNECTIONS_MAX + 1);
      const connections = rows.slice(0, ADMIN_CONNECTIONS_MAX).map(toConnectionView);
      return {
        status: 200,
        body: {
          connections,
          connections_total: connections.length,
          connections_truncated: rows.length > ADMIN_CONNECTIONS_MAX,
        },
      };
    },
    readStats: async () => {
      const [repos, tenants, credentials] = await Promise.all([
        store.searchRepos('', 0, 0),
        store.countTenants(),
        store.countCredentials(),
      ]);
      return {
        status: 200,
        body: {
          repos_total: repos.total,
          repos_truncated: repos.truncated,
          tenants_total: tenants,
          connections_total: credentials.connections,
          connections_truncated: credentials.truncated,
          ...toCredentialStats(credentials),
        },
      };
    },
    checkPrivately: async () => ({ status: 200, body: { ok: true } }),
  };
}
