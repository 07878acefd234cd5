import { AppError } from '../../contracts/errors.ts';
import { canonicalId, type TenantId } from '../../domain/ids.ts';
import type { Connection, ManagedRepo } from '../../domain/repos/repo.ts';
import type { DispatchStore } from '../../ports/store.ts';

/** An id that is not ours is as absent as a stranger's (A86). */
export async function loadOwnRepo(
  store: Pick<DispatchStore, 'getRepo'>,
  tenantId: TenantId,
  id: string,
): Promise<ManagedRepo> {
  const known = canonicalId(id);
  const repo = known === null ? null : await store.getRepo(known);
  if (repo === null || repo.tombstone || repo.tenantId !== tenantId) throw new AppError('not_found');
  return repo;
}

/** A connection that is being deleted is still there for the call that finishes the deletion. */
export async function loadOwnConnection(
  store: Pick<DispatchStore, 'getConnection'>,
  tenantId: TenantId,
  id: string,
  options: { readonly evenDeleting?: boolean } = {},
): Promise<Connection> {
  const known = canonicalId(id);
  const connection = known === null ? null : await store.getConnection(tenantId, known);
  if (connection === null || (connection.deleting && options.evenDeleting !== true)) {
    throw new AppError('not_found');
  }
  return connection;
}
