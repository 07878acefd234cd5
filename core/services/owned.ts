import { AppError } from '../contracts/errors.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Connection, ManagedRepo } from '../domain/repo.ts';
import type { DispatchStore } from '../ports/store.ts';

/** Ids are ours and look so; whatever else was sent is as absent as a stranger's (A86). */
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export async function loadOwnRepo(
  store: Pick<DispatchStore, 'getRepo'>,
  tenantId: TenantId,
  id: string,
): Promise<ManagedRepo> {
  const repo = ID.test(id) ? await store.getRepo(id.toLowerCase()) : null;
  if (repo === null || repo.tombstone || repo.tenantId !== tenantId) throw new AppError('not_found');
  return repo;
}

/** One that is being deleted is still there for whoever finishes the deletion. */
export async function loadOwnConnection(
  store: Pick<DispatchStore, 'getConnection'>,
  tenantId: TenantId,
  id: string,
  options: { readonly evenDeleting?: boolean } = {},
): Promise<Connection> {
  const connection = ID.test(id) ? await store.getConnection(tenantId, id.toLowerCase()) : null;
  if (connection === null || (connection.deleting && options.evenDeleting !== true)) {
    throw new AppError('not_found');
  }
  return connection;
}
