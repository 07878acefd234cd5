import {
  type CognitoSignIn,
  type DashboardConfig,
  type GoTrueSignIn,
  SIGN_IN_CALLBACK_PATH,
} from '#core/contracts/dashboard.ts';
import { createWatchable } from './store.ts';

/** Kept for this tab only: closing it signs out, another site never sees it. */
export interface Session {
  readonly token: string;
  readonly refreshToken: string | null;
  /** Epoch ms. */
  readonly expiresAt: number;
  readonly email: string | null;
  /** Decides what is offered; what is allowed the service decides. */
  readonly isAdmin: boolean;
}

const SESSION_KEY = 'mergeyard.session';
const PENDING_KEY = 'mergeyard.sign-in';
/** A token is renewed this long before it ends. */
const RENEW_EARLY_MS = 60_000;

export const session = createWatchable<Session | null>(load());

export function setSession(next: Session | null): void {
  if (next === null) sessionStorage.removeItem(SESSION_KEY);
  else sessionStorage.setItem(SESSION_KEY, JSON.stringify(next));
  session.set(next);
}

function load(): Session | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(SESSION_KEY) ?? 'null');
    return isSession(stored) ? stored : null;
  } catch {
    return null;
  }
}

function isSession(value: unknown): value is Session {
  return isRecord(value) && typeof value.token === 'string' && typeof value.expiresAt === 'number';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Why a sign-in did not work, in words for the form. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
}

const SILENT = 'The identity provider did not answer. Try again in a moment.';

async function ask(url: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
  let response: Response;
  try {
    response = await fetch(url, { method: 'POST', ...init });
  } catch {
    throw new SignInError(SILENT);
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.status >= 500) throw new SignInError(SILENT);
  if (!response.ok)
    throw new SignInError(
      response.status === 429
        ? 'Too many tries; wait a moment.'
        : 'That did not work: wrong e-mail or password, or the link is used up.',
    );
  return isRecord(body) ? body : {};
}

function goTrueHeaders(config: GoTrueSignIn): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(config.api_key === '' ? {} : { apikey: config.api_key }),
  };
}

export async function signInWithPassword(
  config: GoTrueSignIn,
  email: string,
  password: string,
): Promise<void> {
  setSession(
    fromGoTrue(
      await ask(`${config.url}/auth/v1/token?grant_type=password`, {
        headers: goTrueHeaders(config),
        body: JSON.stringify({ email, password }),
      }),
    ),
  );
}

export async function sendSignInLink(config: GoTrueSignIn, email: string): Promise<void> {
  const back = encodeURIComponent(`${location.origin}${SIGN_IN_CALLBACK_PATH}`);
  await ask(`${config.url}/auth/v1/otp?redirect_to=${back}`, {
    headers: goTrueHeaders(config),
    body: JSON.stringify({ email, create_user: true }),
  });
}

function fromGoTrue(body: Readonly<Record<string, unknown>>): Session {
  const { access_token: token, refresh_token: refreshToken, expires_in: seconds, user } = body;
  if (typeof token !== 'string') throw new SignInError('The identity provider answered without a session.');
  const claims = readClaims(token);
  const metadata = isRecord(user) && isRecord(user.app_metadata) ? user.app_metadata : claims.app_metadata;
  const email = isRecord(user) ? user.email : claims.email;
  return {
    token,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : null,
    expiresAt: expiryOf(claims, seconds),
    email: typeof email === 'string' ? email : null,
    isAdmin: isRecord(metadata) && metadata.role === 'admin',
  };
}

/** The token's own claim first: a provider may give a longer life than its answer says. */
function expiryOf(claims: Readonly<Record<string, unknown>>, seconds: unknown): number {
  if (typeof claims.exp === 'number') return claims.exp * 1000;
  return Date.now() + (Number(seconds) || 0) * 1000;
}

/** Read for display only; the service verifies. */
function readClaims(token: string): Readonly<Record<string, unknown>> {
  try {
    const part = token.split('.')[1] ?? '';
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    );
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isRecord(claims) ? claims : {};
  } catch {
    return {};
  }
}

/** Leaves the page for the hosted one; what comes back is checked against what is kept here. */
export async function startHostedSignIn(config: CognitoSignIn, backTo: string): Promise<void> {
  const verifier = randomText();
  const state = randomText();
  sessionStorage.setItem(PENDING_KEY, JSON.stringify({ verifier, state, backTo }));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const query = new URLSearchParams({
    ...{
      response_type: 'code',
      client_id: config.client_id,
      state,
      scope: 'openid email aws.cognito.signin.user.admin',
    },
    ...{ redirect_uri: `${location.origin}${SIGN_IN_CALLBACK_PATH}`, code_challenge_method: 'S256' },
    code_challenge: toBase64Url(new Uint8Array(digest)),
  });
  location.assign(`${config.domain}/oauth2/authorize?${query.toString()}`);
}

function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Ends a sign-in that left the page: a code of the hosted page, or the fragment of a mailed link. Returns where to go on. */
export async function finishSignIn(config: DashboardConfig['sign_in']): Promise<string> {
  const pending: unknown = JSON.parse(sessionStorage.getItem(PENDING_KEY) ?? 'null');
  sessionStorage.removeItem(PENDING_KEY);
  if (config.kind === 'gotrue') {
    const fragment = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    history.replaceState(null, '', SIGN_IN_CALLBACK_PATH);
    if (fragment.access_token === undefined)
      throw new SignInError('The link is used up or too old. Ask for a new one.');
    setSession(fromGoTrue(fragment));
    return '/';
  }
  const query = new URLSearchParams(location.search);
  history.replaceState(null, '', SIGN_IN_CALLBACK_PATH);
  const code = query.get('code');
  if (!isRecord(pending) || code === null || pending.state !== query.get('state')) {
    throw new SignInError('This sign-in was not started in this tab, or it was cancelled. Start again.');
  }
  setSession(
    await askCognito(config, {
      ...{ grant_type: 'authorization_code', code, code_verifier: String(pending.verifier) },
      redirect_uri: `${location.origin}${SIGN_IN_CALLBACK_PATH}`,
    }),
  );
  return typeof pending.backTo === 'string' && pending.backTo.startsWith('/') ? pending.backTo : '/';
}

async function askCognito(config: CognitoSignIn, form: Record<string, string>): Promise<Session> {
  const body = await ask(`${config.domain}/oauth2/token`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: config.client_id, ...form }).toString(),
  });
  const { access_token: token, refresh_token: refreshToken, id_token: idToken, expires_in: seconds } = body;
  if (typeof token !== 'string') throw new SignInError('The identity provider answered without a session.');
  const claims = readClaims(token);
  const groups = claims['cognito:groups'];
  const { email } = typeof idToken === 'string' ? readClaims(idToken) : {};
  return {
    token,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : (form.refresh_token ?? null),
    expiresAt: expiryOf(claims, seconds),
    email: typeof email === 'string' ? email : null,
    isAdmin: Array.isArray(groups) && groups.includes('admin'),
  };
}

let renewing: Promise<void> | null = null;

/** Token for the next call, renewed first when it is about to end and can be. */
export async function readToken(config: DashboardConfig['sign_in']): Promise<string | null> {
  const current = session.read();
  if (current === null) return null;
  if (current.refreshToken !== null && current.expiresAt - Date.now() < RENEW_EARLY_MS) {
    renewing ??= renew(config, current.refreshToken).finally(() => {
      renewing = null;
    });
    // A provider that is silent now ends nothing: the service judges the token that there is.
    await renewing.catch(() => undefined);
  }
  return session.read()?.token ?? null;
}

async function renew(config: DashboardConfig['sign_in'], refreshToken: string): Promise<void> {
  const next =
    config.kind === 'cognito'
      ? await askCognito(config, { grant_type: 'refresh_token', refresh_token: refreshToken })
      : fromGoTrue(
          await ask(`${config.url}/auth/v1/token?grant_type=refresh_token`, {
            headers: goTrueHeaders(config),
            body: JSON.stringify({ refresh_token: refreshToken }),
          }),
        );
  setSession({ ...next, email: next.email ?? session.read()?.email ?? null });
}

/** Where a hosted session is ended too; null when there is none. */
export function hostedSignOutUrl(config: DashboardConfig['sign_in']): string | null {
  if (config.kind !== 'cognito') return null;
  const query = new URLSearchParams({
    client_id: config.client_id,
    logout_uri: `${location.origin}/`,
  });
  return `${config.domain}/logout?${query.toString()}`;
}
