import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { html, page } from '../pages/html.ts';
import { findUser, type World } from '../world.ts';
import { readBody } from './server.ts';

/** The one OAuth2 application of this forge. */
export const OAUTH_CLIENT = { id: 'mergeyard', secret: 'fake-oauth-secret' } as const;

const TEAMS_PATH = '/api/v1/user/teams';
const ACCOUNT_PATH = '/api/v1/user';
const PATHS = ['/login/oauth/', '/.well-known/openid-configuration', TEAMS_PATH];

/** One membership: `permission` is owner, admin, write, read, or none where the units say more. */
export interface FakeTeam {
  readonly permission: string;
  readonly units_map?: Readonly<Record<string, string>>;
  readonly organization: { readonly id: number; readonly name: string };
}
/** Teams by login; an account without an entry is a writer of `acme`. */
export const teamsOf = new Map<string, readonly FakeTeam[]>();
const DEFAULT_TEAMS: readonly FakeTeam[] = [{ permission: 'write', organization: { id: 1, name: 'acme' } }];

interface Granted {
  readonly login: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

const codes = new Map<string, Granted>();
const tokens = new Map<string, string>();
/** Newest refresh token of each account: all sessions of an account have one grant. */
const refreshTokens = new Map<string, string>();
/** Redirect URIs of the application; none: it takes each. */
export const redirectUris = new Set<string>();
/** Accounts that an administrator has locked: the API refuses their tokens. The sign-in goes on for them, as on Forgejo. */
export const lockedLogins = new Set<string>();

/** Whether a request is one of the sign-in, also of the API with a token of it. */
export function isOAuthCall({ headers }: Pick<IncomingMessage, 'headers'>, path: string): boolean {
  return (
    PATHS.some((each) => path.startsWith(each)) || (path === ACCOUNT_PATH && tokens.has(bearerOf(headers)))
  );
}

function bearerOf({ authorization }: IncomingMessage['headers']): string {
  return /^bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '';
}

/** Authorization code with PKCE, as the forge documents it. There are no passwords: the page offers every account. */
export async function serveOAuth(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  if (url.pathname.startsWith('/.well-known/')) return send(response, 200, { issuer: world.rootUrl() });
  if (url.pathname.endsWith('/authorize')) return authorize(world, response, url);
  if (url.pathname.endsWith('/access_token')) {
    return trade(response, new URLSearchParams((await readBody(request)).toString('utf8')));
  }
  const login = tokens.get(bearerOf(request.headers));
  const user = login === undefined ? undefined : findUser(world, login);
  if (user === undefined) return send(response, 401, { error: 'invalid_token' });
  if (url.pathname.startsWith('/api/') && lockedLogins.has(user.login))
    return send(response, 403, { message: 'This account is prohibited from signing in.' });
  if (url.pathname === ACCOUNT_PATH) return send(response, 200, { id: user.id, login: user.login });
  const teams = teamsOf.get(user.login) ?? DEFAULT_TEAMS;
  if (url.pathname === TEAMS_PATH) {
    const [limit, page] = [Number(url.searchParams.get('limit')), Number(url.searchParams.get('page'))];
    return send(response, 200, teams.slice((page - 1) * limit, page * limit));
  }
  const groups = [...new Set(teams.map(({ organization }) => organization.name))];
  return send(response, 200, { sub: String(user.id), preferred_username: user.login, email: '', groups });
}

function authorize(world: World, response: ServerResponse, url: URL): void {
  const asked = url.searchParams;
  const redirectUri = asked.get('redirect_uri') ?? '';
  const isOurs = asked.get('client_id') === OAUTH_CLIENT.id && asked.get('code_challenge_method') === 'S256';
  if (!isOurs || redirectUri === '') return send(response, 400, { error: 'invalid_request' });
  const login = asked.get('login');
  if (login === null) {
    const links = world.state.users.map((user) => {
      asked.set('login', user.login);
      return html`<li><a href="${`${url.pathname}?${asked.toString()}`}">${user.login}</a></li>`;
    });
    const text = page('Sign in', null, html`<p>Allow Mergeyard to know who you are, as</p><ul>${links}</ul>`);
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(text);
    return;
  }
  const code = randomBytes(16).toString('hex');
  codes.set(code, { login, challenge: asked.get('code_challenge') ?? '', redirectUri });
  const back = new URL(redirectUri);
  back.searchParams.set('code', code);
  back.searchParams.set('state', asked.get('state') ?? '');
  response.writeHead(302, { Location: back.toString() }).end();
}

function trade(response: ServerResponse, form: URLSearchParams): void {
  const isRefresh = form.get('grant_type') === 'refresh_token';
  const refuse = (error: string, words: string): void =>
    send(response, 400, { error, error_description: words });
  // The order in which both forges judge.
  if (form.get('client_id') !== OAUTH_CLIENT.id)
    return refuse('invalid_client', `cannot load client with client id: '${form.get('client_id')}'`);
  if (form.get('client_secret') !== OAUTH_CLIENT.secret)
    return refuse(isRefresh ? 'invalid_client' : 'unauthorized_client', 'invalid client secret');
  if (!isRefresh && redirectUris.size > 0 && !redirectUris.has(form.get('redirect_uri') ?? ''))
    return refuse('unauthorized_client', 'unexpected redirect URI');
  const login = isRefresh ? takeRefresh(form) : takeCode(form);
  if (login === null)
    return isRefresh
      ? refuse('unauthorized_client', 'unable to parse refresh token')
      : refuse('unauthorized_client', 'client is not authorized');
  const [token, refresh] = [randomBytes(20).toString('hex'), randomBytes(20).toString('hex')];
  tokens.set(token, login);
  refreshTokens.set(login, refresh);
  const answer = { access_token: token, refresh_token: refresh, token_type: 'bearer', expires_in: 3600 };
  send(response, 200, answer);
}

function takeCode(form: URLSearchParams): string | null {
  const code = form.get('code') ?? '';
  const granted = codes.get(code);
  codes.delete(code);
  const verifier = form.get('code_verifier') ?? '';
  const isIts =
    granted?.redirectUri === form.get('redirect_uri') &&
    granted.challenge === createHash('sha256').update(verifier).digest('base64url');
  return isIts ? granted.login : null;
}

/** A token ends with the next one of its account, as with `INVALIDATE_REFRESH_TOKENS`, which is on in Forgejo. */
function takeRefresh(form: URLSearchParams): string | null {
  const token = form.get('refresh_token') ?? '';
  return [...refreshTokens].find(([, newest]) => newest === token)?.[0] ?? null;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
