import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';

/** A rotated secret is noticed after this at the latest. */
const CACHED_MS = 5 * 60_000;

export type ReadSecret = () => Promise<Secret<string>>;

/** Reads one secret and remembers it for five minutes. Throws when it cannot be read or is empty. */
export function createSecretReader(
  client: SecretsManagerClient,
  secretId: string,
  clock: Pick<Clock, 'monotonic'>,
): ReadSecret {
  let cached: { readonly secret: Secret<string>; readonly until: number } | null = null;
  return async () => {
    const now = clock.monotonic();
    if (cached !== null && now < cached.until) return cached.secret;
    const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    if (text === undefined || text === '') throw new Error('the secret is empty');
    cached = { secret: new Secret(text), until: now + CACHED_MS };
    return cached.secret;
  };
}
