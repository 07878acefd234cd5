import type { TenantId } from '../domain/ids.ts';
import type { Connection } from '../domain/repo.ts';
import type { DispatchStore, EnrollmentStore } from '../ports/store.ts';
import { recordChange } from './audit.ts';
import { buryRepo, type DeletionDeps } from './delete-repo.ts';
import { loadOwnConnection } from './owned.ts';

/**
 * A connection and every repo under it. Cut short, it is finished by doing it again. Its credential stays as long as one of
 * its repos has something to take back on the forge; the worker deletes the row with the last of them.
 */
export async function deleteConnection(deps: DeletionDeps, tenantId: TenantId, id: string): Promise<void> {
  const connection = await loadOwnConnection(deps.store, tenantId, id, { evenDeleting: true });
  const again = connection.deleting;
  if (await deps.store.markConnectionDeleting(tenantId, connection.id)) {
    let waits = false;
    for (const repo of await listReposUnder(deps.store, connection)) {
      // Asked for a second time, it is not waited for any longer.
      if (again) await deps.store.deleteRepo(repo);
      else if ((await buryRepo(deps, repo)) === 'buried') waits = true;
    }
    if (!waits) await deps.store.deleteConnection(tenantId, connection.id);
  }
  await recordChange(deps, tenantId, 'connection.delete', connection.id);
}

/** The mark comes first: from then on no repo is created under it, so the list that follows is complete (A57). */
export async function cascade(
  store: EnrollmentStore,
  connection: Pick<Connection, 'id' | 'tenantId'>,
): Promise<void> {
  if (!(await store.markConnectionDeleting(connection.tenantId, connection.id))) return;
  for (const repo of await listReposUnder(store, connection)) await store.deleteRepo(repo);
  await store.deleteConnection(connection.tenantId, connection.id);
}

async function listReposUnder(
  store: Pick<EnrollmentStore, 'listRepos'>,
  connection: Pick<Connection, 'id' | 'tenantId'>,
) {
  return (await store.listRepos(connection.tenantId)).filter((repo) => repo.connectionId === connection.id);
}

/**
 * Ends at once what was only waiting for the engine, of one tenant: whoever enrolls again must not be told that what they
 * deleted is still there, nor be counted for it. True when there was something.
 */
export async function finishDeletions(
  store: EnrollmentStore & Pick<DispatchStore, 'getConnection'>,
  tenantId: TenantId,
): Promise<boolean> {
  const buried = (await store.listRepos(tenantId)).filter((repo) => repo.tombstone);
  for (const repo of buried) await store.deleteRepo(repo);
  const deleting = (await store.listConnections(tenantId)).filter((connection) => connection.deleting);
  for (const connection of deleting) await cascade(store, connection);
  return buried.length + deleting.length > 0;
}
