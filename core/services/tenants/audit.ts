import { currentOrigin } from '../../contracts/tenants/change-origin.ts';
import type { TenantId } from '../../domain/ids.ts';
import {
  type AccountStore,
  ANOTHER_TENANT,
  type AuditEntry,
  type BY_SERVICE,
} from '../../ports/account-store.ts';
import type { Clock, Ids, Log } from '../../ports/system.ts';

export interface AuditDeps {
  readonly store: Pick<AccountStore, 'appendAudit'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * Notes a change that was made; `failed`, one that was begun and may have had effects. The change stands whether or not the
 * note can be stored.
 */
export async function recordChange(
  deps: AuditDeps,
  tenantId: TenantId,
  action: string,
  target: string,
  result: AuditEntry['result'] = 'ok',
  by: typeof BY_SERVICE | null = null,
): Promise<void> {
  const origin = currentOrigin();
  // A change that another tenant has caused, such as a repository that is taken over: who that is, is not told.
  const foreign = origin !== null && origin.tenantId !== tenantId;
  const entry: AuditEntry = {
    id: deps.ids.uuid(),
    tenantId,
    at: deps.clock.now(),
    action,
    target,
    result,
    actor: by ?? (foreign ? ANOTHER_TENANT : (origin?.person ?? tenantId)),
    from: foreign ? null : (origin?.network ?? null),
  };
  try {
    await deps.store.appendAudit(entry);
  } catch (error) {
    deps.log.error('an audit entry could not be stored', { tenant_id: tenantId, action, target, error });
  }
}
