import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '#core/contracts/errors.ts';
import { hashTicket } from '#core/contracts/realtime/ticket.ts';
import { SESSION_COOKIE } from '#core/contracts/tenants/account.ts';
import { isApiToken } from '#core/contracts/tenants/api-token-text.ts';
import { parseUrl } from '#core/domain/parse-url.ts';
import { readBearer } from '#core/http/authenticate.ts';
import { readHeader } from '#core/http/read-header.ts';
import { Secret } from '#core/secret.ts';

/** Session credential of a request: header first, then cookie. `junk`: there is one, but no session has this form. */
export function readSessionToken(event: APIGatewayProxyEventV2): Secret<string> | 'none' | 'junk' {
  const header = readHeader(event.headers, 'authorization');
  if (header !== undefined) {
    const token = readBearer(header);
    return token === null || isApiToken(token.reveal()) ? 'junk' : token;
  }
  const cookie = readCookie(event, SESSION_COOKIE);
  return cookie === undefined ? 'none' : new Secret(cookie);
}

function readCookie(event: APIGatewayProxyEventV2, name: string): string | undefined {
  const found = event.cookies?.find((cookie) => cookie.startsWith(`${name}=`));
  const value = found?.slice(name.length + 1);
  return value === '' ? undefined : value;
}

export function clearedSessionCookie(name: string): string {
  return `${name}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax`;
}

/** A page of another site must not sign a person out. Without an origin it is no page of a browser. */
export function isOwnOrigin(event: APIGatewayProxyEventV2): boolean {
  const origin = readHeader(event.headers, 'origin');
  if (origin === undefined) return true;
  // The browser's own word, which no page can change. Behind the distribution the host is the gateway's, not the page's.
  if (readHeader(event.headers, 'sec-fetch-site') === 'same-origin') return true;
  return parseUrl(origin)?.host === readHeader(event.headers, 'host');
}

/** Over plain HTTP no socket can be opened: says what the caller has to change first (D-71). Uses up no ticket. */
export function refuseSocket(event: APIGatewayProxyEventV2): AppError {
  if (readHeader(event.headers, 'upgrade')?.toLowerCase() !== 'websocket') {
    return new AppError('upgrade_required');
  }
  const ticket = event.queryStringParameters?.ticket;
  if (ticket === undefined && readCookie(event, SESSION_COOKIE) === undefined) {
    return new AppError('missing_auth');
  }
  if (ticket !== undefined && hashTicket(ticket) === null) return new AppError('invalid_token');
  return new AppError('upgrade_required');
}
