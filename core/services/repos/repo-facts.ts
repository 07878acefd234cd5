import type { RepoFacts } from '../../contracts/repos/managed-repo.ts';
import type { RepoId, TenantId } from '../../domain/ids.ts';
import type { Connection, ManagedRepo } from '../../domain/repos/repo.ts';
import type { PlanLimitsTable } from '../../domain/tenants/billing.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { DispatchStore, EnrollmentStore } from '../../ports/store.ts';
import { listReposOnHold } from '../billing/plans.ts';

export type RepoFactsStore = Pick<EnrollmentStore, 'listRepos' | 'listConnections'> &
  Pick<DispatchStore, 'getConnection' | 'loadReconcileOutcome'> &
  Pick<AccountStore, 'listOutcomes' | 'loadPlan'>;

/** Repos of a tenant with what is shown beside them, in four reads; null: all of them. */
export async function readRepoFacts(
  store: RepoFactsStore,
  tenantId: TenantId,
  limits?: PlanLimitsTable,
  repoIds: readonly RepoId[] | null = null,
): Promise<readonly RepoFacts[]> {
  const [repos, connections, outcomes] = await Promise.all([
    store.listRepos(tenantId),
    store.listConnections(tenantId),
    store.listOutcomes(tenantId),
  ]);
  const alive = repos.filter((repo) => !repo.tombstone);
  const onHold = await listReposOnHold(store, tenantId, alive, limits);
  const byId = new Map(connections.map((connection) => [connection.id, connection]));
  const shown = alive.filter(({ id }) => repoIds === null || repoIds.includes(id));
  return shown.map((repo) => ({
    repo,
    connection: aliveOnly(byId.get(repo.connectionId)),
    outcome: outcomes.get(repo.id),
    isOnHold: onHold.has(repo.id),
  }));
}

export async function readFactsOf(
  store: RepoFactsStore,
  repo: ManagedRepo,
  limits?: PlanLimitsTable,
): Promise<RepoFacts> {
  const [connection, outcome, repos] = await Promise.all([
    store.getConnection(repo.tenantId, repo.connectionId),
    store.loadReconcileOutcome(repo),
    store.listRepos(repo.tenantId),
  ]);
  const onHold = await listReposOnHold(store, repo.tenantId, repos, limits);
  return {
    repo,
    connection: aliveOnly(connection ?? undefined),
    outcome: outcome ?? undefined,
    isOnHold: onHold.has(repo.id),
  };
}

function aliveOnly(connection: Connection | undefined): Connection | undefined {
  return connection?.deleting === true ? undefined : connection;
}
