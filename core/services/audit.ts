import type { TenantId } from '../domain/ids.ts';
import type { AccountStore, AuditEntry } from '../ports/account-store.ts';
import type { Clock, Ids, Log } from '../ports/system.ts';

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
): Promise<void> {
  const entry = {
    ...{ id: deps.ids.uuid(), tenantId, at: deps.clock.now(), actor: tenantId, action, target },
    result,
  };
  try {
    await deps.store.appendAudit(entry);
  } catch (error) {
    deps.log.error('an audit entry could not be stored', { tenant_id: tenantId, action, target, error });
  }
}
