import { isTenantRow, tenantOfShownRow } from '#core/adapters/dynamo/keys.ts';
import { formatRefreshPing } from '#core/contracts/realtime.ts';
import { parseStreamEvent, type StreamChange } from '#core/contracts/stream.ts';
import type { TenantId } from '#core/domain/ids.ts';
import { endSockets, type PushDeps, pingTenants } from '#core/services/realtime.ts';

/**
 * One ping per tenant and batch of changes, however many rows changed. What fails here is tried again by the mapping, for
 * as long as a ping is still news.
 */
export function createPush(deps: PushDeps): (event: unknown) => Promise<void> {
  return async (event) => {
    const changes = parseStreamEvent(event);
    const gone = tenantsOf(changes.filter((change) => change.kind === 'REMOVE' && isTenantRow(change)));
    const changed = tenantsOf(changes);
    await pingTenants(deps, [...changed], formatRefreshPing(deps.clock.now()));
    for (const tenantId of gone) await endSockets(deps, tenantId);
  };
}

function tenantsOf(changes: readonly StreamChange[]): ReadonlySet<TenantId> {
  return new Set(changes.map(({ pk }) => tenantOfShownRow(pk)).filter((id) => id !== null));
}
