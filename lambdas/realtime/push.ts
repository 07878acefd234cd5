import { readChanges, type StoredChange } from '#core/adapters/dynamo/rows/changes.ts';
import { formatRefreshPing } from '#core/contracts/realtime/realtime.ts';
import type { TenantId } from '#core/domain/ids.ts';
import { endSockets, type PushDeps, pingTenants } from '#core/services/realtime/realtime.ts';

/**
 * One ping per tenant and batch of changes, however many rows changed. What fails here is tried again by the mapping, for
 * as long as a ping is still news.
 */
export function createPush(deps: PushDeps): (event: unknown) => Promise<void> {
  return async (event) => {
    // A notice is asked for; nothing of it is shown.
    const changes = readChanges(event).filter(({ what }) => what !== 'notice');
    const gone = tenantsOf(changes.filter(({ kind, what }) => kind === 'REMOVE' && what === 'tenant'));
    const changed = tenantsOf(changes);
    await pingTenants(deps, [...changed], formatRefreshPing(deps.clock.now()));
    for (const tenantId of gone) await endSockets(deps, tenantId);
  };
}

function tenantsOf(changes: readonly StoredChange[]): ReadonlySet<TenantId> {
  return new Set(changes.map(({ tenantId }) => tenantId).filter((id) => id !== null));
}
