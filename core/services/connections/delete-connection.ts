import { AppError } from '../../contracts/errors.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Connection } from '../../domain/repos/repo.ts';
import type { DispatchStore, EnrollmentStore } from '../../ports/store.ts';
import { buryRepo, type DeletionDeps } from '../repos/delete-repo.ts';
import { loadOwnConnection } from '../repos/owned.ts';
import { recordChange } from '../tenants/audit.ts';
import { dropConnection } from '../wind-down/wind-down.ts';

/**
 * A connection and every repo under it. Cut short, it is finished by doing it again; once it is done it is not there any
 * more. Its credential stays as long as one of its repos has something to take back on the forge; the worker deletes the
 * row with the last of them.
 */
export async function deleteConnection(deps: DeletionDeps, tenantId: TenantId, id: string): Promise<void> {
  const connection = await loadOwnConnection(deps.store, tenantId, id, { evenDeleting: true });
  const again = connection.deleting;
  // The mark comes first: from then on no repo is created under it, so the list that follows is complete (A57).
  await deps.store.markConnectionDeleting(tenantId, connection.id);
  const repos = await listReposUnder(deps.store, connection);
  for (const repo of repos) await buryRepo(deps, repo);
  await dropConnection(deps.store, connection);
  // Its repos are only waiting for the engine: for its owner it was gone before.
  if (again && repos.length > 0 && repos.every((repo) => repo.tombstone)) throw new AppError('not_found');
  await recordChange(deps, tenantId, 'connection.delete', connection.id);
}

async function listReposUnder(
  store: Pick<EnrollmentStore & DispatchStore, 'listRepos'>,
  connection: Pick<Connection, 'id' | 'tenantId'>,
) {
  return (await store.listRepos(connection.tenantId)).filter((repo) => repo.connectionId === connection.id);
}
