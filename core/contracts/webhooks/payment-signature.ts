import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EpochMs } from '../../domain/ids.ts';
import { PAYMENT_EVENT_WINDOW_MS } from '../../domain/limits.ts';
import type { Secret } from '../../secret.ts';

/** `t=<unix seconds>,v1=<64 hex>[,v1=…][,v0=…]`: two `v1` while the provider's secret is being replaced. */
export const PAYMENT_SIGNATURE_HEADER = 'stripe-signature';

const HEADER_CHARS_MAX = 4_096;
const SECONDS = /^[1-9]\d{0,11}$/;
const DIGEST = /^[0-9a-f]{64}$/;

function digest(secret: Secret<string>, seconds: string, body: Uint8Array): Buffer {
  return createHmac('sha256', secret.reveal()).update(`${seconds}.`).update(body).digest();
}

/** As the provider signs: for the fake of it, and for tests. */
export function signPaymentEvent(secret: Secret<string>, body: Uint8Array, nowMs: EpochMs): string {
  const seconds = String(Math.floor(nowMs / 1000));
  return `t=${seconds},v1=${digest(secret, seconds, body).toString('hex')}`;
}

/**
 * Whether the body, byte for byte, is the provider's and at most five minutes old or ahead (A104). Constant in time over
 * all candidates; false without a secret or with an empty one (D-60).
 */
export function isPaymentEventSigned(
  secret: Secret<string>,
  header: string | undefined,
  body: Uint8Array,
  nowMs: EpochMs,
): boolean {
  const parts = readHeaderParts(header);
  if (parts === null || secret.reveal() === '') return false;
  const expected = digest(secret, parts.seconds, body);
  let authentic = false;
  for (const candidate of parts.candidates) {
    // All are compared, so that the time taken does not tell which one matched.
    if (timingSafeEqual(Buffer.from(candidate, 'hex'), expected)) authentic = true;
  }
  return authentic && Math.abs(nowMs - Number(parts.seconds) * 1000) <= PAYMENT_EVENT_WINDOW_MS;
}

/** Null: no such header. One `t` exactly; schemes other than `v1` say nothing. */
function readHeaderParts(
  header: string | undefined,
): { readonly seconds: string; readonly candidates: readonly string[] } | null {
  if (header === undefined || header.length > HEADER_CHARS_MAX) return null;
  const pairs = header.split(',').map((part) => {
    const at = part.indexOf('=');
    return [part.slice(0, Math.max(0, at)).trim(), part.slice(at + 1).trim()] as const;
  });
  const times = pairs.filter(([name]) => name === 't').map(([, value]) => value);
  const candidates = pairs.filter(([name, value]) => name === 'v1' && DIGEST.test(value)).map(([, v]) => v);
  const [seconds] = times;
  if (times.length !== 1 || seconds === undefined || !SECONDS.test(seconds)) return null;
  return candidates.length === 0 ? null : { seconds, candidates };
}
