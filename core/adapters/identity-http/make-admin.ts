import type { Secret } from '../../secret.ts';
import { type AwsCredentials, signAwsPost } from './sign-aws-request.ts';

const USERS_PER_PAGE = 100;
const PAGES_MAX = 1000;

/** `invited`: an account was made, and the provider sent a mail. `promoted`: there was one. */
export type MadeAdmin = 'invited' | 'promoted';

/**
 * Error of a provider that refused or gave no usable answer. It holds the provider's code, and no text of the provider
 * or of the service.
 */
export class MakeAdminError extends Error {
  override readonly name = 'MakeAdminError';
  constructor(step: string, code: string) {
    super(`${step}: ${code}`);
  }
}

const TIMEOUT_MS = 10_000;
const ADMIN_GROUP = 'admin';

interface Answer {
  readonly status: number;
  readonly value: Readonly<Record<string, unknown>>;
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { ...init, redirect: 'error', signal }).catch(() => {
    throw new MakeAdminError('the identity provider', 'no answer, or none of its own');
  });
  const value: unknown = await response.json().catch(() => ({}));
  return { status: response.status, value: typeof value === 'object' && value !== null ? { ...value } : {} };
}

export interface CognitoAdminConfig {
  readonly userPoolId: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** Endpoint of Cognito. @default that of the region */
  readonly endpoint?: string | undefined;
  readonly now: () => number;
}

/** Makes the account if there is none, then puts it into the group of administrators (D-93). Doing it twice is fine. */
export async function makeCognitoAdmin(config: CognitoAdminConfig, email: string): Promise<MadeAdmin> {
  const existed = !(await inviteToCognito(config, email));
  const added = await callCognito(config, 'AdminAddUserToGroup', { Username: email, GroupName: ADMIN_GROUP });
  if (added.status !== 200) throw new MakeAdminError('AdminAddUserToGroup', codeOf(added));
  return existed ? 'promoted' : 'invited';
}

/**
 * Makes an account, whose owner gets a mail, or mails once more to one who has never signed in: the password in a mail ends after
 * seven days. False: the account is in use, and nothing was sent.
 */
export async function inviteToCognito(config: CognitoAdminConfig, email: string): Promise<boolean> {
  const made = await callCognito(config, 'AdminCreateUser', {
    Username: email,
    DesiredDeliveryMediums: ['EMAIL'],
    UserAttributes: [
      { Name: 'email', Value: email },
      { Name: 'email_verified', Value: 'true' },
    ],
  });
  if (made.status === 200) return true;
  if (codeOf(made) !== 'UsernameExistsException') throw new MakeAdminError('AdminCreateUser', codeOf(made));
  const again = { Username: email, DesiredDeliveryMediums: ['EMAIL'], MessageAction: 'RESEND' };
  const sent = await callCognito(config, 'AdminCreateUser', again);
  const isUsed = codeOf(sent) === 'UnsupportedUserStateException';
  if (sent.status !== 200 && !isUsed) throw new MakeAdminError('AdminCreateUser', codeOf(sent));
  return !isUsed;
}

async function callCognito(
  config: CognitoAdminConfig,
  operation: string,
  input: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const { region, credentials, now } = config;
  const endpoint = new URL(config.endpoint ?? `https://cognito-idp.${region}.amazonaws.com`);
  const body = JSON.stringify({ UserPoolId: config.userPoolId, ...input });
  const headers = signAwsPost(
    {
      host: endpoint.host,
      region,
      service: 'cognito-idp',
      body,
      now: now(),
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
      },
    },
    credentials,
  );
  return ask(endpoint.href, { method: 'POST', headers, body });
}

function codeOf({ status, value }: Answer): string {
  return typeof value.__type === 'string' ? (value.__type.split('#').at(-1) ?? '') : `HTTP ${status}`;
}

export interface GoTrueAdminConfig {
  readonly url: string;
  /** The provider's service key: it may change any user. */
  readonly serviceKey: Secret<string>;
}

/** Invites the address if it has no account, then gives it `app_metadata.role = admin`. Doing it twice is fine. */
export async function makeGoTrueAdmin(config: GoTrueAdminConfig, email: string): Promise<MadeAdmin> {
  const call = openGoTrue(config);
  const known = await findUser(call, email);
  const id = known ?? (await inviteUser(call, email));
  const changed = await call('PUT', `/admin/users/${encodeURIComponent(id)}`, {
    app_metadata: { role: 'admin' },
  });
  if (changed.status !== 200) throw new MakeAdminError('change user', `HTTP ${changed.status}`);
  return known === null ? 'invited' : 'promoted';
}

/** Makes an account, whose owner gets a mail. False: there is one already, and nothing was sent. */
export async function inviteToGoTrue(config: GoTrueAdminConfig, email: string): Promise<boolean> {
  const call = openGoTrue(config);
  if ((await findUser(call, email)) !== null) return false;
  await inviteUser(call, email);
  return true;
}

function openGoTrue(config: GoTrueAdminConfig): GoTrueCall {
  const base = `${config.url.replace(/\/+$/, '')}/auth/v1`;
  return (method, path, body) =>
    ask(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${config.serviceKey.reveal()}`,
        apikey: config.serviceKey.reveal(),
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

type GoTrueCall = (method: string, path: string, body?: unknown) => Promise<Answer>;

async function findUser(call: GoTrueCall, email: string): Promise<string | null> {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const { status, value } = await call('GET', `/admin/users?page=${page}&per_page=${USERS_PER_PAGE}`);
    if (status !== 200 || !Array.isArray(value.users))
      throw new MakeAdminError('list users', `HTTP ${status}`);
    const users: readonly { readonly id?: unknown; readonly email?: unknown }[] = value.users;
    const found = users.find((user) => String(user.email).toLowerCase() === email.toLowerCase());
    if (typeof found?.id === 'string') return found.id;
    if (users.length < USERS_PER_PAGE) return null;
  }
  throw new MakeAdminError('list users', 'too many');
}

async function inviteUser(call: GoTrueCall, email: string): Promise<string> {
  const { status, value } = await call('POST', '/invite', { email });
  if (status !== 200 || typeof value.id !== 'string') throw new MakeAdminError('invite', `HTTP ${status}`);
  return value.id;
}
