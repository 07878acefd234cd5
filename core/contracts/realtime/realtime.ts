/** Where a socket is opened: the same path in the cloud, behind the distribution, and in a local run. */
export const SOCKET_PATH = '/api/v1/user/queue/ws';

/**
 * "Something of yours changed, read again" (D-70). No data of the tenant travels on a socket. Clients ignore messages of
 * types they do not know.
 */
export function formatRefreshPing(at: number): string {
  return JSON.stringify({ type: 'refresh', at: new Date(at).toISOString() });
}

/** The answer to whatever a client sends; sent every five minutes it keeps the gateway from hanging up (D-71). */
export function formatPong(at: number): string {
  return JSON.stringify({ type: 'pong', at: new Date(at).toISOString() });
}

/** Log line of a notification that failed; the stack counts it. */
export const NOTICE_NOT_DELIVERED = 'a notification was not delivered';
