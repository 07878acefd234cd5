import { createHash, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '../contracts/errors.ts';
import type { RouteSpec } from '../contracts/routes/route-spec.ts';
import { isApiToken } from '../contracts/tenants/api-token-text.ts';
import type { AdminWithheld, IdentityPort } from '../ports/identity.ts';
import type { Clock, Log } from '../ports/system.ts';
import type { ReadApiToken } from '../ports/token-store.ts';
import { Secret } from '../secret.ts';
import type { Caller } from './api-call.ts';
import { CONTAINER_AUTH_HEADER, verifyContainerCall } from './container-auth.ts';
import { readRawBody } from './lambda-http.ts';
import { readHeader } from './read-header.ts';

export interface AuthDeps {
  readonly identity: IdentityPort;
  /** Absent on surfaces none of whose routes takes API tokens. */
  readonly readApiToken?: ReadApiToken;
  readonly log: Log;
  /** The deployment's `ADMIN_KEY`; absent on surfaces that take none. Throws when it cannot be read. */
  readonly readAdminKey?: () => Promise<Secret<string>>;
  /** Verifies stamps of the engine's side; absent on surfaces that take none. */
  readonly container?: {
    /** Throws when it cannot be read. */
    readonly readSecret: () => Promise<Secret<string>>;
    readonly clock: Pick<Clock, 'now'>;
  };
}

/**
 * The caller of a route, or the refusal that this kind of route gives. No handler runs before (A89). Whether a user is an
 * administrator is asked afterwards: see `requireAdmin`.
 */
export async function authenticate(
  deps: AuthDeps,
  { auth, scope }: Pick<RouteSpec, 'auth' | 'scope'>,
  event: APIGatewayProxyEventV2,
): Promise<Caller> {
  switch (auth) {
    case 'bearer':
      return verifyBearer(deps, event, scope !== undefined);
    case 'me':
      return refuseAs('not_authenticated', ['auth_unavailable'], () => verifyBearer(deps, event, false));
    case 'admin':
      return verifyAdmin(deps, event);
    case 'operator':
      return refuseAs('missing_auth', [], () => verifyOperator(deps, event));
    default:
      return { kind: 'anonymous' };
  }
}

/** Every refusal but the named ones under one code. */
async function refuseAs(
  code: 'not_authenticated' | 'missing_auth',
  kept: readonly string[],
  verify: () => Promise<Caller>,
): Promise<Caller> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof AppError && !kept.includes(error.code)) throw new AppError(code);
    throw error;
  }
}

async function verifyBearer(
  deps: AuthDeps,
  event: APIGatewayProxyEventV2,
  takesTokens: boolean,
): Promise<Caller> {
  const header = readHeader(event.headers, 'authorization');
  if (header === undefined) throw new AppError('missing_auth');
  const token = readBearer(header);
  if (token === null) throw new AppError('unauthorized');
  if (!isApiToken(token.reveal())) return verifyToken(deps, token, event.routeKey);
  if (!takesTokens || deps.readApiToken === undefined) throw new AppError('session_required');
  const found = await deps.readApiToken(token);
  if (found === null) throw new AppError('invalid_token');
  const { tenantId: id, id: tokenId } = found;
  return { kind: 'user', id, isAdmin: false, person: `token:${tokenId}`, token: found };
}

/** The token of a Bearer header (RFC 6750), null for any other credential. */
export function readBearer(header: string): Secret<string> | null {
  const token = /^bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
  return token === undefined ? null : new Secret(token);
}

export async function verifyToken(
  deps: Pick<AuthDeps, 'identity' | 'log'>,
  token: Secret<string>,
  routeKey: string,
): Promise<Extract<Caller, { readonly kind: 'user' }>> {
  const answer = await deps.identity.verify(token);
  switch (answer.kind) {
    case 'user':
      return answer;
    case 'invalid':
      throw new AppError('invalid_token');
    case 'unavailable':
      deps.log.warn('the identity provider did not answer', {
        route: routeKey,
        upstream_status: answer.status,
      });
      throw new AppError('auth_unavailable');
  }
}

/** A stamp of the container's side (D-74, D-75), or an administrator. */
async function verifyOperator(deps: AuthDeps, event: APIGatewayProxyEventV2): Promise<Caller> {
  const stamp = event.headers[CONTAINER_AUTH_HEADER];
  if (stamp === undefined || deps.container === undefined) {
    const caller = await verifyAdmin(deps, event);
    requireAdmin(caller);
    return caller;
  }
  const { method } = event.requestContext.http;
  const call = { method, path: event.rawPath, body: readRawBody(event) };
  let secret: Secret<string>;
  try {
    secret = await deps.container.readSecret();
  } catch (error) {
    deps.log.error('the container secret could not be read', { error });
    throw new AppError('missing_auth');
  }
  if (verifyContainerCall([secret], stamp, call, deps.container.clock.now()) === null) {
    throw new AppError('missing_auth');
  }
  return { kind: 'container' };
}

async function verifyAdmin(deps: AuthDeps, event: APIGatewayProxyEventV2): Promise<Caller> {
  const key = event.headers['x-admin-key'];
  if (key !== undefined) {
    if (!(await matchesAdminKey(deps, key))) throw new AppError('invalid_key');
    return { kind: 'admin_key' };
  }
  return verifyBearer(deps, event, false);
}

/** The admin key, or a user with the rights of an administrator. */
export function requireAdmin(caller: Caller): void {
  if (caller.kind === 'admin_key' || (caller.kind === 'user' && caller.isAdmin)) return;
  if (caller.kind !== 'user' || caller.adminWithheld === undefined) throw new AppError('forbidden');
  throw new AppError('second_factor_required', { message: FACTOR_STEPS[caller.adminWithheld] });
}

const FACTOR_STEPS: Readonly<Record<AdminWithheld, string>> = {
  no_factor: 'An administrator needs a second factor: set one up on the page Account, then sign in again.',
  not_in_session:
    'This session began without your second factor: sign out, and sign in again with it, or show a code on the page Account.',
};

/** Constant in time; false without a key of the deployment, or with an empty one (A91). */
async function matchesAdminKey(deps: AuthDeps, given: string): Promise<boolean> {
  let expected = '';
  try {
    expected = (await deps.readAdminKey?.())?.reveal() ?? '';
  } catch (error) {
    deps.log.error('the admin key could not be read', { error });
  }
  return timingSafeEqual(digest(given), digest(expected)) && expected !== '';
}

/** Equal lengths, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
