import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import * as z from 'zod';
import { PUBLISHED_KEYS_KEPT_MS, PUBLISHED_KEYS_RETRY_MS } from '#core/domain/api-limits.ts';
import type { Clock } from '#core/ports/system.ts';
import type { ProviderAnswer } from './ask.ts';

/** `unknown`: nothing here can tell, so the provider has to. */
export type Signature = 'good' | 'bad' | 'unknown';

export interface PublishedKeysConfig {
  /** Reads the keys that the provider publishes (RFC 7517). */
  readonly ask: () => Promise<ProviderAnswer | null>;
  readonly clock: Pick<Clock, 'now'>;
  /** Tokens that are signed with a shared secret are `unknown` instead of `bad`. @default false */
  readonly acceptsSharedSecret?: boolean;
}

const text = z.string().min(1);
/** Schema of complete public keys; a shared secret is none. */
const PublicKey = z.discriminatedUnion('kty', [
  z.looseObject({ kty: z.literal('RSA'), n: text, e: text }),
  z.looseObject({ kty: z.literal('EC'), crv: text, x: text, y: text }),
  z.looseObject({ kty: z.literal('OKP'), crv: text, x: text }),
]);
const KeySet = z.object({ keys: z.array(z.unknown()) });
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const SHARED_SECRET = /^HS\d+$/;

/** Checks signatures with the keys that the provider publishes, so that a forged token costs no call. */
export function createPublishedKeys(config: PublishedKeysConfig): (token: string) => Promise<Signature> {
  const { clock } = config;
  let known: JSONWebKeySet | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  /** Reads the keys again where they are older. Concurrent calls share one read; after a failure the former keys stay. */
  const refresh = async (olderThanMs: number): Promise<boolean> => {
    const ageMs = clock.now() - askedAt;
    // A clock that was set back does not tell their age.
    if (asking === null && ageMs >= 0 && ageMs <= olderThanMs) return false;
    asking ??= config
      .ask()
      .then((answer) => {
        known = readKeys(answer) ?? known;
      })
      .finally(() => {
        askedAt = clock.now();
        asking = null;
      });
    await asking;
    return true;
  };
  return async (token) => {
    await refresh(known === null ? PUBLISHED_KEYS_RETRY_MS : PUBLISHED_KEYS_KEPT_MS);
    if (known === null) return 'unknown';
    if (config.acceptsSharedSecret === true && SHARED_SECRET.test(algorithmOf(token))) return 'unknown';
    const first = await check(token, known);
    if (first !== 'no_key') return first;
    // A new key, or a made-up name of one: only the first is worth a call, and not each time.
    const second = (await refresh(PUBLISHED_KEYS_RETRY_MS)) ? await check(token, known) : first;
    return second === 'no_key' ? 'bad' : second;
  };
}

async function check(token: string, keys: JSONWebKeySet): Promise<Signature | 'no_key'> {
  try {
    await compactVerify(token, createLocalJWKSet(keys), { algorithms: ALGORITHMS });
    return 'good';
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'no_key';
    // The provider's published keys cannot be used: no fault of the token.
    if (error instanceof errors.JWKSMultipleMatchingKeys || error instanceof errors.JWKInvalid)
      return 'unknown';
    return error instanceof errors.JOSEError ? 'bad' : 'unknown';
  }
}

/** Keys of an answer; null: none that can check a signature. */
function readKeys(answer: ProviderAnswer | null): JSONWebKeySet | null {
  const parsed = KeySet.safeParse(answer?.status === 200 ? answer.value : null);
  const keys = (parsed.data?.keys ?? []).flatMap((key) => PublicKey.safeParse(key).data ?? []);
  return keys.length === 0 ? null : { keys };
}

function algorithmOf(token: string): string {
  const header: unknown = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8'));
  return typeof header === 'object' && header !== null && 'alg' in header ? String(header.alg) : '';
}
