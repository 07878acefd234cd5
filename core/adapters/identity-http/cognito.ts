import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { IdentityAnswer, IdentityPort } from '#core/ports/identity.ts';
import type { Clock } from '#core/ports/system.ts';
import { askProvider, type ProviderAnswer } from './ask.ts';
import { createPublishedKeys } from './published-keys.ts';
import { judgeAdmin, readPlausibleClaims, readSessionFacts } from './session-token.ts';

export interface CognitoConfig {
  /** `https://cognito-idp.<region>.amazonaws.com` */
  readonly endpoint: string;
  readonly userPoolId: string;
  readonly clientId: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly timeoutMs?: number;
}

const ADMIN_GROUP = 'admin';
/** Values of the claim `amr` that mean two factors: several factors; a passkey of the device; one of a security key. */
const BOTH_FACTORS = ['mfa', 'swk', 'hwk'] as const;
const GetUserAnswer = z.object({
  UserAttributes: z.array(z.object({ Name: z.string(), Value: z.string() })),
  /** Second factors that every sign-in of this user asks for. */
  UserMFASettingList: z.array(z.string()).optional(),
});
const Refusal = z.object({ __type: z.string() });
const REFUSALS: readonly string[] = [
  'NotAuthorizedException',
  'UserNotFoundException',
  'UserNotConfirmedException',
  'PasswordResetRequiredException',
];

/**
 * Cognito answers one user ten times a second and gives this error beyond
 * (https://docs.aws.amazon.com/cognito/latest/developerguide/quotas.html); all users of the account share one more rate.
 */
const TOO_MANY = 'TooManyRequestsException';
/** So long a session that Cognito has had too many calls of is not asked about, in ms: its rate is counted by the second. */
const TOO_MANY_REST_MS = 1_000;
/** Sessions that are remembered at once; beyond it the oldest is asked about again. */
const RESTING_MAX = 1_000;

/**
 * Identity by Amazon Cognito: the signature is checked here, then `GetUser` checks expiry and revocation and needs no rights
 * of ours. Groups are not in its answer; they are read from the very token that it has just accepted.
 */
export function createCognitoIdentity(config: CognitoConfig): IdentityPort {
  const call = (target: string, body: unknown): Promise<ProviderAnswer | null> =>
    askProvider({
      method: 'POST',
      url: config.endpoint,
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${target}`,
      },
      body: JSON.stringify(body),
      ...(config.timeoutMs === undefined ? {} : { timeoutMs: config.timeoutMs }),
    });
  const checkSignature = createPublishedKeys({
    clock: config.clock,
    ask: () =>
      askProvider({
        method: 'GET',
        url: `${config.endpoint}/${config.userPoolId}/.well-known/jwks.json`,
        headers: { accept: 'application/json' },
        ...(config.timeoutMs === undefined ? {} : { timeoutMs: config.timeoutMs }),
      }),
  });
  /** Ends of the rests of sessions, by the hash of their token: calls in vain would take from what all users share. */
  const restsUntil = new Map<string, number>();
  const askAbout = async (text: string): Promise<ProviderAnswer | null> => {
    const name = createHash('sha256').update(text).digest('base64url');
    if ((restsUntil.get(name) ?? 0) > config.clock.now()) return TOO_MANY_ANSWER;
    restsUntil.delete(name);
    const answer = await call('GetUser', { AccessToken: text });
    if (refusalOf(answer) !== TOO_MANY) return answer;
    restsUntil.set(name, config.clock.now() + TOO_MANY_REST_MS);
    const [oldest] = restsUntil.keys();
    if (restsUntil.size > RESTING_MAX && oldest !== undefined) restsUntil.delete(oldest);
    return answer;
  };
  return {
    name: 'cognito',
    async verify(token) {
      const text = token.reveal();
      const claims = readPlausibleClaims(text, config.clock.now());
      if (claims === null || !isOurs(config, claims)) return { kind: 'invalid' };
      if ((await checkSignature(text)) === 'bad') return { kind: 'invalid' };
      return judge(await askAbout(text), claims);
    },
    async isReachable() {
      // Any answer of the service to a call that cannot succeed shows that it answers.
      const answer = await call('GetUser', { AccessToken: 'none' });
      return answer !== null && Refusal.safeParse(answer.value).success && answer.status < 500;
    },
  };
}

/** Whether it is an access token of this pool and client: `GetUser` would accept one of any pool. */
function isOurs(config: CognitoConfig, claims: Readonly<Record<string, unknown>>): boolean {
  const issuer = typeof claims.iss === 'string' ? claims.iss : '';
  return (
    issuer.endsWith(`/${config.userPoolId}`) &&
    claims.client_id === config.clientId &&
    claims.token_use === 'access'
  );
}

/**
 * Whether two factors were shown. A passkey counts for two, because the pool takes it only from a device that verifies
 * its user. Cognito writes the claim itself and lets no trigger change it; pools without the claim ask for a code at
 * each sign-in of an account with a factor.
 */
function showedFactor(ways: unknown): boolean {
  if (ways === undefined) return true;
  return Array.isArray(ways) && BOTH_FACTORS.some((way) => ways.includes(way));
}

/** The answer that Cognito would give to a session in its rest. */
const TOO_MANY_ANSWER: ProviderAnswer = { status: 400, value: { __type: TOO_MANY } };

/** Error of an answer that refuses the call; null: it is another answer. */
function refusalOf(answer: ProviderAnswer | null): string | null {
  const refusal = Refusal.safeParse(answer?.value);
  return answer?.status === 400 && refusal.success ? (refusal.data.__type.split('#').at(-1) ?? '') : null;
}

function judge(answer: ProviderAnswer | null, claims: Readonly<Record<string, unknown>>): IdentityAnswer {
  if (answer === null) return { kind: 'unavailable', status: null };
  if (REFUSALS.includes(refusalOf(answer) ?? '')) return { kind: 'invalid' };
  const user = GetUserAnswer.safeParse(answer.value);
  const sub = user.data?.UserAttributes.find((attribute) => attribute.Name === 'sub')?.Value;
  const isUser = answer.status === 200 && sub !== undefined && z.uuid().safeParse(sub).success;
  // The groups count only if they are of the very user that the service named.
  if (!isUser || claims.sub !== sub) return { kind: 'unavailable', status: answer.status };
  const groups = claims['cognito:groups'];
  const hasRole = Array.isArray(groups) && groups.includes(ADMIN_GROUP);
  const hasFactor = (user.data?.UserMFASettingList ?? []).length > 0;
  return {
    kind: 'user',
    id: sub,
    // A password alone must not open the data of all tenants.
    ...judgeAdmin(hasRole, hasFactor, showedFactor(claims.amr)),
    // The same through all tokens of one sign-in.
    ...readSessionFacts(claims.origin_jti, claims.auth_time),
  };
}
