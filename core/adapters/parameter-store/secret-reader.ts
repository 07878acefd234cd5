import { GetParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import type { Clock } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';

/** How long a value is remembered, in ms; a rotated secret is noticed after this time at the latest. */
const CACHED_MS = 5 * 60_000;

export type ReadSecret = () => Promise<Secret<string>>;

/**
 * Reads one secure parameter, by its ARN, and remembers it for five minutes. Throws when it cannot be read or is empty.
 * Source: AWS, "GetParameter" (Systems Manager API reference): `Name` may be an ARN.
 */
export function createSecretReader(
  client: SSMClient,
  secretId: string,
  clock: Pick<Clock, 'monotonic'>,
): ReadSecret {
  let cached: { readonly secret: Secret<string>; readonly until: number } | null = null;
  return async () => {
    const now = clock.monotonic();
    if (cached !== null && now < cached.until) return cached.secret;
    const { Parameter } = await client.send(
      new GetParameterCommand({ Name: secretId, WithDecryption: true }),
    );
    const text = Parameter?.Value;
    if (text === undefined || text === '') throw new Error('the secret is empty');
    cached = { secret: new Secret(text), until: now + CACHED_MS };
    return cached.secret;
  };
}
