import {
  CHOOSE_TENANT_PATH,
  type CognitoSignIn,
  type DashboardConfig,
  type GoTrueSignIn,
  SIGN_IN_CALLBACK_PATH,
} from '#core/contracts/internal/dashboard.ts';
import { safeBackTo } from '../routes.ts';
import {
  type Answer,
  ask,
  goTrueHeaders,
  isRecord,
  REFUSED_LINK,
  REFUSED_SESSION,
  SignInError,
} from './ask-provider.ts';
import { oneTabAtATime } from './one-tab.ts';
import { beginPending, takePending } from './pkce.ts';
import { createWatchable } from './store.ts';

export { SignInError };

/** Kept by the open tabs alone (`tabs.ts`): closing the last one signs out, another site never sees it. */
export interface Session {
  readonly token: string;
  readonly refreshToken: string | null;
  /** Epoch ms, by the clock of this browser. */
  readonly expiresAt: number;
  readonly email: string | null;
  /** Decides what is offered; what is allowed the service decides. */
  readonly isAdmin: boolean;
  /** The account that the session is in, and those that the person may choose. @default one alone */
  readonly tenants?: { readonly chosen: string; readonly all: readonly SessionTenant[] };
}

export interface SessionTenant {
  readonly id: string;
  readonly name: string;
}

const SESSION_KEY = 'mergeyard.session';
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

/** Leaves the page for the service that people sign in with; the verifier that is kept here redeems what comes back. */
export async function startProviderSignIn(
  config: GoTrueSignIn,
  provider: string,
  backTo: string,
): Promise<void> {
  const { challenge } = await beginPending(localStorage, backTo);
  const query = new URLSearchParams({
    provider,
    redirect_to: `${location.origin}${SIGN_IN_CALLBACK_PATH}`,
    code_challenge: challenge,
    code_challenge_method: 's256',
  });
  location.assign(`${config.url}/auth/v1/authorize?${query.toString()}`);
}

/** `mayCreate`: an address without an account gets one. */
export async function sendSignInLink(
  config: GoTrueSignIn,
  email: string,
  mayCreate: boolean,
  backTo: string,
): Promise<void> {
  const back = encodeURIComponent(`${location.origin}${SIGN_IN_CALLBACK_PATH}`);
  const { challenge } = await beginPending(localStorage, backTo);
  const body = JSON.stringify({
    email,
    create_user: mayCreate,
    code_challenge: challenge,
    code_challenge_method: 's256',
  });
  const headers = goTrueHeaders(config);
  await ask(`${config.url}/auth/v1/otp?redirect_to=${back}`, { headers, body }, REFUSED_LINK);
}

function fromGoTrue(body: Answer): Session {
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
    ...readTenants(claims.sub, metadata),
  };
}

function readTenants(chosen: unknown, metadata: unknown): Pick<Session, 'tenants'> {
  if (!isRecord(metadata) || !Array.isArray(metadata.tenants) || typeof chosen !== 'string') return {};
  const all = metadata.tenants.flatMap((each: unknown) =>
    isRecord(each) && typeof each.id === 'string' && typeof each.name === 'string'
      ? [{ id: each.id, name: each.name }]
      : [],
  );
  return { tenants: { chosen, all } };
}

/** A session in another account of this person; the service says whether there is one. */
export async function chooseTenant(config: GoTrueSignIn, id: string): Promise<void> {
  const current = session.read();
  const headers = goTrueHeaders(config, current?.token ?? '');
  const body = JSON.stringify({ tenant_id: id });
  const answer = await ask(`${config.url}${CHOOSE_TENANT_PATH}`, { headers, body }, REFUSED_SESSION);
  takeGoTrueSession(answer);
}

/** A session of GoTrue that takes the place of this one, as after a second factor was shown. */
export function takeGoTrueSession(body: Answer): void {
  const next = fromGoTrue(body);
  setSession({ ...next, email: next.email ?? session.read()?.email ?? null });
}

/** How well GoTrue knows the person behind a session: `aal1`, `aal2`. Null: the provider has no levels. */
export function levelOf(current: Session): string | null {
  const { aal } = readClaims(current.token);
  return typeof aal === 'string' ? aal : null;
}

/**
 * By the clock of this browser, which may be far from that of the provider: how long a token lives is told by both of its times
 * together. The token's own claims first: a provider may give a longer life than its answer says.
 */
function expiryOf({ iat, exp }: Readonly<Record<string, unknown>>, seconds: unknown): number {
  if (typeof exp === 'number') {
    return typeof iat === 'number' ? Date.now() + (exp - iat) * 1000 : exp * 1000;
  }
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
  const { state, challenge } = await beginPending(sessionStorage, backTo);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: config.client_id,
    state,
    scope: 'openid email aws.cognito.signin.user.admin',
    redirect_uri: `${location.origin}${SIGN_IN_CALLBACK_PATH}`,
    code_challenge_method: 'S256',
    code_challenge: challenge,
  });
  location.assign(`${config.domain}/oauth2/authorize?${query.toString()}`);
}

/** Where the provider makes a passkey for a person who is signed in there. Its newer pages alone have it. */
export function passkeyPage(config: CognitoSignIn): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: config.client_id,
    redirect_uri: `${location.origin}${SIGN_IN_CALLBACK_PATH}`,
  });
  return `${config.domain}/passkeys/add?${query.toString()}`;
}

const SIGN_IN_ENDED = 'The link is used up or too old, or the sign-in was cancelled. Start again.';
const REFUSED_SIGN_INS: Readonly<Record<string, string>> = {
  not_admitted: 'Your account on the forge may not use this service. Ask the person who runs it.',
  forge_unreachable: 'The forge did not answer. Try again in a minute.',
};

/** The code comes from the address, so any text may be in its place. */
function sayRefusedSignIn(code: string): string {
  return Object.hasOwn(REFUSED_SIGN_INS, code) ? (REFUSED_SIGN_INS[code] ?? SIGN_IN_ENDED) : SIGN_IN_ENDED;
}

/**
 * Ends a sign-in that left the page, by the code that came back and the verifier that was kept. A token that an address
 * brings along is never taken: it may be of another person's account. Returns where to go on.
 */
export async function finishSignIn(config: DashboardConfig['sign_in']): Promise<string> {
  const query = new URLSearchParams(location.search);
  history.replaceState(null, '', SIGN_IN_CALLBACK_PATH);
  const pending = takePending(config.kind === 'gotrue' ? localStorage : sessionStorage);
  const code = query.get('code');
  const error = query.get('error');
  if (code === null && error !== null) throw new SignInError(sayRefusedSignIn(error));

  // With GoTrue the verifier alone binds the code to this browser.
  const isOurs = pending !== null && (config.kind === 'gotrue' || pending.state === query.get('state'));
  if (!isOurs || code === null) {
    throw new SignInError('This sign-in was not started in this browser, or it was cancelled. Start again.');
  }
  setSession(
    config.kind === 'gotrue'
      ? fromGoTrue(
          await ask(`${config.url}/auth/v1/token?grant_type=pkce`, {
            headers: goTrueHeaders(config),
            body: JSON.stringify({ auth_code: code, code_verifier: pending.verifier }),
          }),
        )
      : await askCognito(config, {
          grant_type: 'authorization_code',
          code,
          code_verifier: pending.verifier,
          redirect_uri: `${location.origin}${SIGN_IN_CALLBACK_PATH}`,
        }),
  );
  return safeBackTo(pending.backTo);
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
    renewing ??= renewAlone(config).finally(() => {
      renewing = null;
    });
    // A provider that is silent now ends nothing: the service judges the token that there is.
    await renewing.catch(() => undefined);
  }
  return session.read()?.token ?? null;
}

/** One tab at a time: a provider takes a refresh token that comes twice for a stolen one. */
async function renewAlone(config: DashboardConfig['sign_in']): Promise<void> {
  const before = session.read();
  await oneTabAtATime(async () => {
    const current = session.read();
    if (current !== before || current === null || current.refreshToken === null) return;
    const next = await renew(config, current.refreshToken);
    // Who has signed out meanwhile, or is another person by now, gets no session by that.
    if (session.read() === current) setSession({ ...next, email: next.email ?? current.email });
  });
}

async function renew(config: DashboardConfig['sign_in'], refreshToken: string): Promise<Session> {
  if (config.kind === 'cognito')
    return askCognito(config, { grant_type: 'refresh_token', refresh_token: refreshToken });
  return fromGoTrue(
    await ask(`${config.url}/auth/v1/token?grant_type=refresh_token`, {
      headers: goTrueHeaders(config),
      body: JSON.stringify({ refresh_token: refreshToken }),
    }),
  );
}

/** A call of Cognito about the account of the very person whose token is in the body. */
export function askAccount(
  config: CognitoSignIn,
  operation: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  return ask(
    `${config.endpoint}/`,
    {
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
      },
      body: JSON.stringify(body),
    },
    REFUSED_SESSION,
  );
}
