import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../secret.ts';

/** `sha256=` and 64 lower-case hex digits, nothing else (A102). */
const HEADER = /^sha256=([0-9a-f]{64})$/;
/** Compared against when there is no secret, so that an unknown repo costs what a known one costs. */
const NO_SECRET = 'no secret';

export interface HubSignature {
  /** Constant in time; always false without a secret or with an empty one. */
  matches(secret: Secret<string> | null, body: Uint8Array): boolean;
}

/** Null when the header is missing or has any other form. */
export function parseHubSignature(header: string | undefined): HubSignature | null {
  const hex = HEADER.exec(header ?? '')?.[1];
  if (hex === undefined) return null;
  const given = Buffer.from(hex, 'hex');
  return {
    matches(secret, body) {
      const key = secret?.reveal() ?? '';
      const expected = createHmac('sha256', key === '' ? NO_SECRET : key)
        .update(body)
        .digest();
      return timingSafeEqual(given, expected) && key !== '';
    },
  };
}
