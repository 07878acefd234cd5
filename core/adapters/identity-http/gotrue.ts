import * as z from 'zod';
import type { IdentityPort } from '#core/ports/identity.ts';
import type { Clock } from '#core/ports/system.ts';
import { askProvider } from './ask.ts';
import { createPublishedKeys } from './published-keys.ts';
import { judgeAdmin, readPlausibleClaims, readSessionFacts } from './session-token.ts';

export interface GoTrueConfig {
  /** Base address; the contract's paths `/auth/v1/…` are below it. */
  readonly baseUrl: string;
  /** The public key of the project, sent as `apikey`. @default none */
  readonly apiKey?: string;
  /**
   * Whether the provider signs with a shared secret although it publishes keys, as while keys are changed.
   * @default false
   */
  readonly acceptsSharedSecret?: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly timeoutMs?: number;
}

const User = z.object({
  id: z.uuid(),
  // `user_metadata` can be written by the user and is never looked at (A91).
  app_metadata: z.object({ role: z.unknown().optional() }).nullish(),
  factors: z
    .array(z.object({ status: z.string() }))
    .nullish()
    .catch(null),
});

const Ways = z.array(z.object({ timestamp: z.int() }));

/** Levels of a session in which more than one factor was shown. */
const HIGHER_LEVELS: readonly unknown[] = ['aal2', 'aal3'];

/** Role of a user. Tokens without a level are of a provider that knows no second factor; there the role alone decides. */
function judgeRole(user: z.infer<typeof User>, level: unknown) {
  const hasRole = user.app_metadata?.role === 'admin';
  if (level === undefined || HIGHER_LEVELS.includes(level)) return judgeAdmin(hasRole, true, true);
  return judgeAdmin(
    hasRole,
    (user.factors ?? []).some(({ status }) => status === 'verified'),
    false,
  );
}

/** Statuses for a bad or expired token, an unknown user, or a session that ended. */
const REFUSALS: readonly number[] = [400, 401, 403, 404];

/**
 * Identity by the GoTrue contract: `GET /auth/v1/user` with the caller's own token (D-93). A provider that publishes keys is
 * asked about no token that they did not sign.
 */
export function createGoTrueIdentity(config: GoTrueConfig): IdentityPort {
  const base = config.baseUrl.replace(/\/+$/, '');
  const common = {
    ...(config.apiKey === undefined || config.apiKey === '' ? {} : { apikey: config.apiKey }),
    accept: 'application/json',
  };
  const timeout = config.timeoutMs === undefined ? {} : { timeoutMs: config.timeoutMs };
  const checkSignature = createPublishedKeys({
    clock: config.clock,
    acceptsSharedSecret: config.acceptsSharedSecret ?? false,
    ask: () =>
      askProvider({
        method: 'GET',
        url: `${base}/auth/v1/.well-known/jwks.json`,
        headers: common,
        ...timeout,
      }),
  });
  return {
    name: 'gotrue',
    async verify(token) {
      const text = token.reveal();
      const claims = readPlausibleClaims(text, config.clock.now());
      if (claims === null) return { kind: 'invalid' };
      if ((await checkSignature(text)) === 'bad') return { kind: 'invalid' };
      const answer = await askProvider({
        method: 'GET',
        url: `${base}/auth/v1/user`,
        headers: { ...common, authorization: `Bearer ${text}` },
        ...timeout,
      });
      if (answer === null) return { kind: 'unavailable', status: null };
      // A gateway's page with such a status is no verdict of the provider.
      if (REFUSALS.includes(answer.status) && answer.value !== undefined) return { kind: 'invalid' };
      const user = User.safeParse(answer.value);
      if (answer.status !== 200 || !user.success) return { kind: 'unavailable', status: answer.status };
      // Each way of authentication has its time; a renewed token has the same ones.
      const ways = Ways.safeParse(claims.amr).data ?? [];
      const startedAt = ways.length === 0 ? null : Math.min(...ways.map((way) => way.timestamp));
      return {
        kind: 'user',
        id: user.data.id,
        ...judgeRole(user.data, claims.aal),
        ...readSessionFacts(claims.session_id, startedAt),
      };
    },
    async isReachable() {
      const url = `${base}/auth/v1/health`;
      const answer = await askProvider({ method: 'GET', url, headers: common, ...timeout });
      return answer?.status === 200;
    },
  };
}
