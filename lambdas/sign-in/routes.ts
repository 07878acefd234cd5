import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as z from 'zod';
import type { ForgeOAuth, ForgePerson } from '#core/adapters/identity-forge/forge-oauth.ts';
import { challengeOf, makeRandomText } from '#core/adapters/identity-forge/pkce.ts';
import type { SessionPerson, Sessions } from '#core/adapters/identity-forge/sessions.ts';
import { CHOOSE_TENANT_PATH, SIGN_IN_CALLBACK_PATH } from '#core/contracts/internal/dashboard.ts';
import { readBearer } from '#core/http/authenticate.ts';
import { readRawBody } from '#core/http/lambda-http.ts';
import { readHeader } from '#core/http/read-header.ts';
import type { HttpResponse } from '#core/http/respond.ts';
import type { Clock, Log } from '#core/ports/system.ts';
import type { Secret } from '#core/secret.ts';

/** Which sessions a sign-out ends, in the words of a GoTrue provider. */
const SCOPES: Readonly<Record<string, 'all' | 'others'>> = { global: 'all', others: 'others' };

export interface SignInConfig {
  readonly forge: ForgeOAuth;
  readonly sessions: Sessions;
  /** Address of this service, where the forge sends people back to. */
  readonly publicUrl: string;
  /** Null: this person may not use the service. */
  readonly admit: (person: ForgePerson) => SessionPerson | null;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** Sign-ins that left the page and codes that wait for it. */
const PENDING_MS = 10 * 60_000;
const CODE_MS = 60_000;
const PENDING_MAX = 1_000;
const FORGE_CALLBACK_PATH = '/auth/v1/callback';

/** The address that the application on the forge has to name. */
export function redirectUriOf(publicUrl: string): string {
  return `${new URL(publicUrl).origin}${FORGE_CALLBACK_PATH}`;
}

const NO_STORE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
const Pkce = z.object({ auth_code: z.string(), code_verifier: z.string() });
const Refresh = z.object({ refresh_token: z.string() });
const Choice = z.object({ tenant_id: z.uuid() });

interface Admitted {
  readonly challenge: string;
  readonly person: SessionPerson;
  readonly refreshToken: Secret<string>;
}

interface Pending {
  readonly challenge: string;
  readonly verifier: string;
}

/** The few calls of the GoTrue contract that the page makes, with the forge as the one provider behind them. */
export function createSignInRoutes(config: SignInConfig) {
  const { forge, sessions, clock } = config;
  const origin = new URL(config.publicUrl).origin;
  const redirectUri = redirectUriOf(config.publicUrl);
  const backTo = `${origin}${SIGN_IN_CALLBACK_PATH}`;
  const pending = createKept<Pending>(PENDING_MS, clock);
  const codes = createKept<Admitted>(CODE_MS, clock);

  async function authorize(event: APIGatewayProxyEventV2): Promise<HttpResponse> {
    const { redirect_to: target, code_challenge: challenge = '' } = event.queryStringParameters ?? {};
    // A code that is sent elsewhere, or that any browser may redeem, is a session for a stranger.
    if (target !== backTo || !/^[\w-]{43}$/.test(challenge)) return refuse(400, 'invalid_request');
    const state = makeRandomText();
    const verifier = makeRandomText();
    pending.keep(state, { challenge, verifier });
    return redirect(forge.authorizeUrl({ redirectUri, state, challenge: challengeOf(verifier) }));
  }

  async function callback(event: APIGatewayProxyEventV2): Promise<HttpResponse> {
    const { state = '', code } = event.queryStringParameters ?? {};
    const begun = pending.take(state);
    if (begun === null || code === undefined) return redirect(`${backTo}?error=cancelled`);
    const answer = await forge.readPerson({ code, redirectUri, verifier: begun.verifier });
    if (answer === 'refused' || answer === 'unreachable') {
      config.log.warn('the forge did not confirm a sign-in', { answer });
      return redirect(`${backTo}?error=${answer === 'refused' ? 'cancelled' : 'forge_unreachable'}`);
    }
    // The tokens that other sessions of the account have may have ended with this one.
    sessions.keepTokenOf(answer.person.account, answer.refreshToken);
    const person = config.admit(answer.person);
    config.log.info('sign-in', { login: answer.person.login, admitted: person !== null });
    if (person === null) return redirect(`${backTo}?error=not_admitted`);
    const own = makeRandomText();
    codes.keep(own, { challenge: begun.challenge, person, refreshToken: answer.refreshToken });
    return redirect(`${backTo}?code=${own}`);
  }

  async function token(event: APIGatewayProxyEventV2): Promise<HttpResponse> {
    const grant = event.queryStringParameters?.grant_type;
    const body = readJson(event);
    if (grant === 'pkce') {
      const given = Pkce.safeParse(body);
      const kept = given.success ? codes.take(given.data.auth_code) : null;
      if (!given.success || kept === null || challengeOf(given.data.code_verifier) !== kept.challenge)
        return refuse(400, 'invalid_grant');
      return json(200, await sessions.begin(kept.person, kept.refreshToken));
    }
    const given = Refresh.safeParse(body);
    const session =
      grant === 'refresh_token' && given.success ? await sessions.renew(given.data.refresh_token) : null;
    return session === null ? refuse(400, 'invalid_grant') : json(200, session);
  }

  async function chooseTenant(event: APIGatewayProxyEventV2): Promise<HttpResponse> {
    const given = Choice.safeParse(readJson(event));
    const bearer = bearerOf(event);
    if (!given.success || bearer === undefined) return refuse(400, 'invalid_request');
    const session = await sessions.choose(bearer, given.data.tenant_id);
    return session === null ? refuse(403, 'not_admitted') : json(200, session);
  }

  async function logout(event: APIGatewayProxyEventV2): Promise<HttpResponse> {
    const bearer = bearerOf(event);
    const scope = SCOPES[event.queryStringParameters?.scope ?? ''] ?? 'this';
    const isEnded = bearer !== undefined && (await sessions.end(bearer, scope));
    // A token that has run out ends no other session: who is told otherwise leaves those open.
    if (!isEnded) return refuse(401, 'invalid_token');
    return { statusCode: 204, headers: NO_STORE, body: '' };
  }

  return {
    'GET /auth/v1/authorize': authorize,
    [`GET ${FORGE_CALLBACK_PATH}`]: callback,
    'POST /auth/v1/token': token,
    [`POST ${CHOOSE_TENANT_PATH}`]: chooseTenant,
    'POST /auth/v1/logout': logout,
  };
}

/** Values that are taken once, for a time; of too many the oldest goes. */
function createKept<T>(forMs: number, clock: Pick<Clock, 'now'>) {
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    keep(name: string, value: T): void {
      kept.set(name, { value, until: clock.now() + forMs });
      const [oldest] = kept.keys();
      if (kept.size > PENDING_MAX && oldest !== undefined) kept.delete(oldest);
    },
    take(name: string): T | null {
      const found = kept.get(name);
      kept.delete(name);
      return found === undefined || found.until <= clock.now() ? null : found.value;
    },
  };
}

function bearerOf(event: APIGatewayProxyEventV2): string | undefined {
  return readBearer(readHeader(event.headers, 'authorization') ?? '')?.reveal();
}

function readJson(event: APIGatewayProxyEventV2): unknown {
  try {
    return JSON.parse(readRawBody(event).toString('utf8'));
  } catch {
    return null;
  }
}

function redirect(location: string): HttpResponse {
  return { statusCode: 302, headers: { ...NO_STORE, location }, body: '' };
}

function json(statusCode: number, body: unknown): HttpResponse {
  return {
    statusCode,
    headers: { ...NO_STORE, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

function refuse(statusCode: number, error: string): HttpResponse {
  return json(statusCode, { error });
}
