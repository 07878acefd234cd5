import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { CONTAINER_AUTH_WINDOW_MS } from '../domain/limits.ts';
import type { ReconcileCommand, ReconcileOrder } from '../ports/system.ts';
import type { Secret } from '../secret.ts';

/**
 * `X-Container-Auth` (D-75): `v1.<unix>.<nonce>.<hex HMAC-SHA256>` over method, path, unix, nonce and the SHA-256 of the
 * body. The nonce is `f<fence>-<random hex>`, or `w<fence>-<random hex>` for a wind-down: the lease's fence and the command
 * are thereby signed. A late request cannot act under a newer lease, and no command can be taken from another request.
 */
export const CONTAINER_AUTH_HEADER = 'x-container-auth';

export interface ContainerCall {
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
}

export interface ContainerStamp extends ReconcileOrder {
  readonly nonce: string;
  /** When the stamp stops being accepted, epoch ms. */
  readonly expiresAt: number;
}

const COMMAND_LETTERS: Readonly<Record<ReconcileCommand, string>> = { reconcile: 'f', wind_down: 'w' };
const STAMP = /^v1\.(\d{1,12})\.([fw](0|[1-9]\d{0,14})-[0-9a-f]{16,64})\.([0-9a-f]{64})$/;

function digest(secret: string, call: ContainerCall, unix: string, nonce: string): Buffer {
  const bodyHash = createHash('sha256').update(call.body).digest('hex');
  return createHmac('sha256', secret)
    .update(['v1', call.method, call.path, unix, nonce, bodyHash].join('\n'))
    .digest();
}

/** A secret that is being rotated is two of them with white space between: the first one signs, each is accepted. */
export function readSecrets(secret: Secret<string>): readonly string[] {
  return secret
    .reveal()
    .split(/\s+/)
    .filter((each) => each !== '');
}

/** Header value for one call. `nowMs` is epoch ms. */
export function signContainerCall(
  secret: Secret<string>,
  call: ContainerCall,
  { fence, command }: ReconcileOrder,
  nowMs: number,
  randomHex: string = randomBytes(16).toString('hex'),
): string {
  const unix = String(Math.floor(nowMs / 1000));
  const nonce = `${COMMAND_LETTERS[command]}${fence}-${randomHex}`;
  const [signing = ''] = readSecrets(secret);
  return `v1.${unix}.${nonce}.${digest(signing, call, unix, nonce).toString('hex')}`;
}

/**
 * The stamp of an authentic call, else null. Fails closed: no secret or an empty one accepts nothing. Several secrets are
 * accepted while one is being rotated.
 */
export function verifyContainerCall(
  secrets: readonly Secret<string>[],
  header: string | undefined,
  call: ContainerCall,
  nowMs: number,
): ContainerStamp | null {
  const parts = STAMP.exec(header ?? '');
  const [unix, nonce, fence, mac] = parts === null ? [] : parts.slice(1);
  if (unix === undefined || nonce === undefined || fence === undefined || mac === undefined) return null;
  const given = Buffer.from(mac, 'hex');
  let authentic = false;
  for (const secret of secrets.flatMap(readSecrets)) {
    // Every secret is tried, so that the time taken does not tell which one matched.
    if (timingSafeEqual(given, digest(secret, call, unix, nonce))) authentic = true;
  }
  const stampedMs = Number(unix) * 1000;
  if (!authentic || Math.abs(nowMs - stampedMs) > CONTAINER_AUTH_WINDOW_MS) return null;
  const command = nonce.startsWith(COMMAND_LETTERS.wind_down) ? 'wind_down' : 'reconcile';
  return { fence: Number(fence), command, nonce, expiresAt: stampedMs + CONTAINER_AUTH_WINDOW_MS };
}

/** Remembers the stamps that were used, so that a replayed request does not run the engine again (A52). */
export interface StampLedger {
  /** False when this stamp was used before. */
  claim(stamp: ContainerStamp, nowMs: number): boolean;
}

/** Only authentic stamps get here, so the size is bounded by what the worker itself sends within one window. */
export function createStampLedger(): StampLedger {
  const used = new Map<string, number>();
  return {
    claim(stamp, nowMs) {
      for (const [nonce, expiresAt] of used) {
        if (expiresAt < nowMs) used.delete(nonce);
      }
      if (used.has(stamp.nonce)) return false;
      used.set(stamp.nonce, stamp.expiresAt);
      return true;
    },
  };
}
