import { AppError } from '#core/contracts/errors.ts';
import { SESSION_COOKIE } from '#core/contracts/tenants/account.ts';
import { SOCKETS_RETRY_SECONDS } from '#core/domain/api-limits.ts';
import type { TenantId } from '#core/domain/ids.ts';
import { parseUrl } from '#core/domain/parse-url.ts';
import { verifyToken } from '#core/http/authenticate.ts';
import {
  createFailedLoginLimit,
  createSpentShares,
  type RateDeps,
  type SpentShares,
  takeUserShare,
} from '#core/http/limit-rate.ts';
import { type HttpResponse, respondEmpty, respondError } from '#core/http/respond.ts';
import { cameThroughEdge } from '#core/http/viewer-address.ts';
import type { RealtimeStore } from '#core/ports/account-store.ts';
import type { IdentityPort } from '#core/ports/identity.ts';
import { StoreError } from '#core/ports/store.ts';
import type { Clock, Log } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { openSocket } from '#core/services/realtime/realtime.ts';
import { redeemTicket } from '#core/services/realtime/tickets.ts';
import { leavingError } from '#core/services/tenants/or-leaving.ts';

/** A `$connect` event as far as it is read. Header names are spelled as the client spelled them. */
export interface ConnectEvent {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly requestContext: {
    readonly connectionId: string;
    readonly requestId: string;
    readonly identity: { readonly sourceIp: string };
  };
}

export interface ConnectDeps extends RateDeps {
  readonly store: Pick<RealtimeStore, 'saveTicket' | 'redeemTicket' | 'addSocket' | 'listSockets'>;
  readonly identity: IdentityPort;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly publicUrl: string;
}

/** As the table of routes has it, which would bring all schemas along. */
const ROUTE = { auth: 'socket', errors: [] } as const;

/** Opens the socket or refuses the upgrade with the contract's status (D-71). No part of the query is ever logged (A94). */
export function createConnect(deps: ConnectDeps): (event: ConnectEvent) => Promise<HttpResponse> {
  const failures = createFailedLoginLimit(deps);
  const spent = createSpentShares(deps);
  return async (event) => {
    const { connectionId, requestId } = event.requestContext;
    try {
      const tenantId = await admitLimited(deps, failures, spent, event);
      const opened = await openSocket(deps, tenantId, connectionId);
      if (opened === 'full') throw new AppError('rate_limited', { retryAfterSeconds: SOCKETS_RETRY_SECONDS });
      if (opened === 'leaving') throw leavingError();
      deps.log.info('socket opened', { request_id: requestId, tenant_id: tenantId });
      return respondEmpty(200);
    } catch (error) {
      const isOurFault = error instanceof StoreError;
      const shown = isOurFault ? new AppError('realtime_unavailable') : error;
      // The alarm SocketConnectFailed counts these lines.
      if (isOurFault) deps.log.error('connect failed', { request_id: requestId, error });
      deps.log.warn('socket refused', {
        request_id: requestId,
        ...(shown instanceof AppError ? { code: shown.code } : {}),
      });
      return respondError(shown, (unknown) =>
        deps.log.error('connect failed', { request_id: requestId, error: unknown }),
      );
    }
  };
}

/** Refused upgrades count for the address, as refused credentials do elsewhere (D-52). */
async function admitLimited(
  deps: ConnectDeps,
  failures: ReturnType<typeof createFailedLoginLimit>,
  spent: SpentShares,
  event: ConnectEvent,
): Promise<TenantId> {
  const headers = Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const arrival = {
    headers: Object.fromEntries(headers),
    sourceIp: event.requestContext.identity.sourceIp,
  };
  if (!cameThroughEdge(arrival.headers, deps.requiredStamp ?? '')) throw new AppError('forbidden');
  failures.refuseBlocked(ROUTE, arrival);
  try {
    return await admit(deps, spent, event);
  } catch (error) {
    await failures.count(ROUTE, arrival, error);
    throw error;
  }
}

/**
 * Who this is, from the ticket alone if there is one: neither a cookie beside it nor the client that redeems it changes that (A93).
 * No other parameter and no header with a credential is read (A94).
 */
async function admit(deps: ConnectDeps, spent: SpentShares, event: ConnectEvent): Promise<TenantId> {
  const tickets = readTickets(event);
  if (tickets.length > 0) {
    const [ticket] = tickets;
    const tenantId = ticket === undefined || tickets.length > 1 ? null : await redeemTicket(deps, ticket);
    if (tenantId === null) throw new AppError('invalid_token');
    return tenantId;
  }
  const session = readSessionCookie(event);
  if (session === null) throw new AppError('missing_auth');
  // Browsers send cookies with a socket of any page; only the origin tells whose page it is (D-41).
  if (!isOwnPage(deps.publicUrl, headerOf(event, 'origin'))) throw new AppError('forbidden');
  spent.refuse(session.reveal());
  const person = await verifyToken(deps, session, '$connect');
  await takeUserShare(deps, person, spent, session.reveal());
  return person.id;
}

/** All of them: of two, none can be preferred. */
function readTickets(event: ConnectEvent): readonly string[] {
  const single = event.queryStringParameters?.ticket;
  return event.multiValueQueryStringParameters?.ticket ?? (single === undefined ? [] : [single]);
}

function readSessionCookie(event: ConnectEvent): Secret<string> | null {
  const values = (headerOf(event, 'cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1));
  const [value, ...others] = values;
  return value === undefined || value === '' || others.length > 0 ? null : new Secret(value);
}

function headerOf(event: ConnectEvent, name: string): string | undefined {
  const found = Object.entries(event.headers ?? {}).find(([each]) => each.toLowerCase() === name);
  return found?.[1];
}

function isOwnPage(publicUrl: string, origin: string | undefined): boolean {
  return origin !== undefined && origin === parseUrl(publicUrl)?.origin;
}
