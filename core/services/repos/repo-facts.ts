import type { RepoFacts, RepoRows } from '../../contracts/repos/managed-repo.ts';
import type { RepoId, TenantId } from '../../domain/ids.ts';
import type { Connection, ManagedRepo } from '../../domain/repos/repo.ts';
import type { PlanLimitsTable } from '../../domain/tenants/billing.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { DispatchStore, EnrollmentStore } from '../../ports/store.ts';
import { listReposOnHold } from '../billing/plans.ts';

export type RepoRowsStore = Pick<DispatchStore, 'getConnection' | 'loadReconcileOutcome'>;

export type RepoFactsStore = RepoRowsStore &
  Pick<EnrollmentStore, 'listRepos' | 'listConnections'> &
  Pick<AccountStore, 'listOutcomes' | 'loadPlan'>;

/** Repos of a tenant with what is shown beside them, in four reads; null: all of them. */
export async function readRepoFacts(
  store: RepoFactsStore,
  tenantId: TenantId,
  limits: PlanLimitsTable,
  repoIds: readonly RepoId[] | null,
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
  limits: PlanLimitsTable,
): Promise<RepoFacts> {
  const [rows, repos] = await Promise.all([readRowsOf(store, repo), store.listRepos(repo.tenantId)]);
  const onHold = await listReposOnHold(store, repo.tenantId, repos, limits);
  return { ...rows, isOnHold: onHold.has(repo.id) };
}

/** The rows of one repository, without what the plan of its tenant says of it. */
export async function readRowsOf(store: RepoRowsStore, repo: ManagedRepo): Promise<RepoRows> {
  const [connection, outcome] = await Promise.all([
    store.getConnection(repo.tenantId, repo.connectionId),
    store.loadReconcileOutcome(repo),
  ]);
  return { repo, connection: aliveOnly(connection ?? undefined), outcome: outcome ?? undefined };
}

function aliveOnly(connection: Connection | undefined): Connection | undefined {
  return connection?.deleting === true ? undefined : connection;
}
