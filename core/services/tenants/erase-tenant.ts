import type { RepoId, TenantId } from '../../domain/ids.ts';
import { type AccountStore, HISTORY_PARTS } from '../../ports/account-store.ts';
import type { EnrollmentStore } from '../../ports/store.ts';

export type EraseStore = Pick<
  AccountStore,
  'loadTenant' | 'keepAudit' | 'deleteHistory' | 'deletePlan' | 'deleteOrganization' | 'deleteTenant'
> &
  Pick<EnrollmentStore, 'listRepos' | 'listConnections' | 'markConnectionDeleting' | 'deleteConnection'>;

/**
 * The rows of a tenant that leaves, in dependency order, once none of its repositories has anything left to take back;
 * before, and for a tenant that stays, nothing happens. Cut short, it is finished by doing it again. Rows of open sockets
 * stay: what follows the changes of the table closes these sockets first (`endSockets`).
 *
 * @param ended - A repository that has nothing left to take back, although its rows are still there.
 */
export async function eraseTenant(store: EraseStore, tenantId: TenantId, ended?: RepoId): Promise<boolean> {
  const tenant = await store.loadTenant(tenantId);
  if (tenant?.deleting === false) return false;
  if ((await store.listRepos(tenantId)).some(({ id }) => id !== ended)) return false;
  for (const { id } of await store.listConnections(tenantId)) {
    if (await store.markConnectionDeleting(tenantId, id)) await store.deleteConnection(tenantId, id);
  }
  // One that is gone already had its notes kept.
  if (tenant !== null) await store.keepAudit(tenantId);
  for (const part of HISTORY_PARTS) await store.deleteHistory(tenantId, part);
  await store.deletePlan(tenantId);
  await store.deleteOrganization(tenantId);
  await store.deleteTenant(tenantId);
  return true;
}
