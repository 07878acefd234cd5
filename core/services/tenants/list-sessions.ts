import { EXPORT_AUDIT_MAX, SESSIONS_LISTED_MAX, SESSIONS_LISTED_MS } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type AccountStore, type AuditEntry, SESSION_STARTED } from '../../ports/account-store.ts';
import type { Clock } from '../../ports/system.ts';

/** The newest sign-ins of a person, from their notes. A session that was ended since is among them: only its provider knows. */
export async function listSessions(
  deps: { readonly store: Pick<AccountStore, 'listAudit'>; readonly clock: Pick<Clock, 'now'> },
  tenantId: TenantId,
  person: string,
): Promise<readonly AuditEntry[]> {
  const since = deps.clock.now() - SESSIONS_LISTED_MS;
  const notes = await deps.store.listAudit(tenantId, EXPORT_AUDIT_MAX);
  return notes
    .filter(({ action, actor, at }) => action === SESSION_STARTED && actor === person && at >= since)
    .slice(0, SESSIONS_LISTED_MAX);
}
