import { createHash, randomBytes } from 'node:crypto';

/** Makes a verifier, a state or a code: 256 random bits in Base64url. */
export function makeRandomText(): string {
  return randomBytes(32).toString('base64url');
}

/** The S256 challenge of a verifier (RFC 7636). */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
