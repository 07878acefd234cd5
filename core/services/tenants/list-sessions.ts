import {
  SESSIONS_LISTED_MAX,
  SESSIONS_LISTED_MS,
  SESSIONS_SCANNED_ROWS_MAX,
} from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { AccountStore, AuditEntry } from '../../ports/account-store.ts';
import type { Clock } from '../../ports/system.ts';

/** The newest sign-ins of a person, from their notes. A session that was ended since is among them: only its provider knows. */
export function listSessions(
  deps: { readonly store: Pick<AccountStore, 'listSignIns'>; readonly clock: Pick<Clock, 'now'> },
  tenantId: TenantId,
  person: string,
): Promise<readonly AuditEntry[]> {
  return deps.store.listSignIns(tenantId, {
    person,
    since: deps.clock.now() - SESSIONS_LISTED_MS,
    limit: SESSIONS_LISTED_MAX,
    scannedMax: SESSIONS_SCANNED_ROWS_MAX,
  });
}
