import type { TenantId } from '../domain/ids.ts';
import type { Connection } from '../domain/repo.ts';
import type { DispatchStore, EnrollmentStore } from '../ports/store.ts';
import { type AuditDeps, recordChange } from './audit.ts';
import { loadOwnConnection } from './owned.ts';

export interface DeletionDeps extends AuditDeps {
  readonly store: AuditDeps['store'] & EnrollmentStore & Pick<DispatchStore, 'getConnection'>;
}

/** A connection and every repo under it. Cut short, it is finished by doing it again. */
export async function deleteConnection(deps: DeletionDeps, tenantId: TenantId, id: string): Promise<void> {
  const connection = await loadOwnConnection(deps.store, tenantId, id, { evenDeleting: true });
  await cascade(deps.store, connection);
  await recordChange(deps, tenantId, 'connection.delete', connection.id);
}

/** The mark comes first: from then on no repo is created under it, so the list that follows is complete (A57). */
export async function cascade(
  store: EnrollmentStore,
  connection: Pick<Connection, 'id' | 'tenantId'>,
): Promise<void> {
  if (!(await store.markConnectionDeleting(connection.tenantId, connection.id))) return;
  for (const repo of await store.listRepos(connection.tenantId)) {
    if (repo.connectionId === connection.id) await store.deleteRepo(repo);
  }
  await store.deleteConnection(connection.tenantId, connection.id);
}
