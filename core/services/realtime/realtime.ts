import {
  SOCKET_POSTS_AT_ONCE,
  SOCKET_SETTLING_MS,
  SOCKET_TTL_MS,
  SOCKETS_PER_TENANT_MAX,
} from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { RealtimeStore } from '../../ports/account-store.ts';
import type { SocketSender } from '../../ports/realtime.ts';
import type { Clock, Log } from '../../ports/system.ts';

export interface SocketDeps {
  readonly store: Pick<RealtimeStore, 'removeSocketOf' | 'listSockets'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface Socket {
  readonly tenantId: TenantId;
  readonly socketId: string;
}

export interface PushDeps extends SocketDeps {
  readonly sender: SocketSender;
  readonly log: Log;
}

/**
 * From now on this socket gets the pings of this tenant. `full`: the tenant has as many as it may have. `leaving`: it has
 * asked for its end, after which nothing would close the socket. Sockets that open at
 * the same moment may be a few more than that; each ping costs a post for every one, so the number has an end.
 */
export async function openSocket(
  deps: Pick<SocketDeps, 'clock'> & { readonly store: Pick<RealtimeStore, 'addSocket' | 'listSockets'> },
  tenantId: TenantId,
  socketId: string,
): Promise<'open' | 'full' | 'leaving'> {
  if ((await deps.store.listSockets(tenantId)).length >= SOCKETS_PER_TENANT_MAX) return 'full';
  const isOpen = await deps.store.addSocket(tenantId, socketId, deps.clock.now() + SOCKET_TTL_MS);
  return isOpen ? 'open' : 'leaving';
}

/**
 * One ping to every socket of these tenants (A87). Rows of clients that left are deleted, but not those of sockets that are
 * just being opened: the gateway calls them gone too until its handshake is over. Throws `StoreError` when the sockets of a
 * tenant cannot be read; the other tenants' pings are sent all the same.
 */
export async function pingTenants(
  deps: PushDeps,
  tenantIds: readonly TenantId[],
  message: string,
): Promise<void> {
  const read = await Promise.allSettled(tenantIds.map((tenantId) => socketsOf(deps, tenantId)));
  const sockets = read.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const tally = { sent: 0, gone: 0, failed: 0 };
  await forEachSocket(sockets, async (socket) => {
    const result = await deps.sender.post(socket.socketId, message);
    tally[result] += 1;
    if (result === 'gone') await forget(deps, socket);
  });
  if (sockets.length > 0) deps.log.info('pings', { tenants: tenantIds.length, ...tally });
  for (const each of read) if (each.status === 'rejected') throw each.reason;
}

/** Rows end by time as well, so this may fail. */
async function forget(deps: PushDeps, { tenantId, socketId }: Socket): Promise<void> {
  const settled = deps.clock.now() + SOCKET_TTL_MS - SOCKET_SETTLING_MS;
  try {
    await deps.store.removeSocketOf(tenantId, socketId, settled);
  } catch (error) {
    deps.log.warn('the row of a socket could not be deleted', { error });
  }
}

/**
 * Ends the sockets of a tenant that was erased, with their rows (A100). `eraseTenant` leaves these rows to this function:
 * without them a socket could not be found, and would stay open for up to two hours.
 */
export async function endSockets(deps: PushDeps, tenantId: TenantId): Promise<void> {
  await forEachSocket(await socketsOf(deps, tenantId), async ({ socketId }) => {
    await deps.sender.close(socketId);
    await deps.store.removeSocketOf(tenantId, socketId);
  });
}

async function socketsOf({ store }: PushDeps, tenantId: TenantId): Promise<readonly Socket[]> {
  return (await store.listSockets(tenantId)).map((socketId) => ({ tenantId, socketId }));
}

/** A few at once: each visit is a call of the gateway. */
async function forEachSocket(
  sockets: readonly Socket[],
  visit: (socket: Socket) => Promise<void>,
): Promise<void> {
  const waiting = [...sockets];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await visit(next);
  };
  await Promise.all(Array.from({ length: Math.min(SOCKET_POSTS_AT_ONCE, sockets.length) }, work));
}
