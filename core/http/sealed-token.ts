import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Secret } from '../secret.ts';
import { readSecrets } from './container-auth.ts';

/**
 * A forge token on its way from worker to engine: `sealed.v1.<base64url of nonce, tag and AES-256-GCM>`. The key comes from
 * the secret that signs the call, and the forge and repository are authenticated with it, so that a recorded request gives
 * no token, and none of it fits another repository (decision 0202).
 */
const PREFIX = 'sealed.v1.';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_PURPOSE = 'mergeyard: forge token between worker and engine, v1';

/** The forge and the repository that a sealed token is for. */
export interface TokenPurpose {
  readonly instanceUrl: string;
  readonly repoSlug: string;
}

const deriveKey = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', KEY_PURPOSE, KEY_BYTES));

const describe = ({ instanceUrl, repoSlug }: TokenPurpose): Buffer =>
  Buffer.from(JSON.stringify([instanceUrl, repoSlug]));

/** @throws Error where no secret is set: an open token is never sent instead */
export function sealToken(secret: Secret<string>, token: Secret<string>, purpose: TokenPurpose): string {
  const [sealing] = readSecrets(secret);
  if (sealing === undefined) throw new Error('the container secret is empty');
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(sealing), nonce).setAAD(describe(purpose));
  const sealed = Buffer.concat([cipher.update(token.reveal(), 'utf8'), cipher.final()]);
  return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/**
 * The token of a request, sealed or not: the contract names the field, and a caller by hand does not seal.
 *
 * @returns null: sealed with another secret, or for another repository
 */
export function openToken(
  secrets: readonly Secret<string>[],
  token: Secret<string>,
  purpose: TokenPurpose,
): Secret<string> | null {
  const value = token.reveal();
  if (!value.startsWith(PREFIX)) return token;
  const bytes = Buffer.from(value.slice(PREFIX.length), 'base64url');
  for (const secret of secrets.flatMap(readSecrets)) {
    const opened = tryOpen(secret, bytes, purpose);
    if (opened !== null) return new Secret(opened);
  }
  return null;
}

function tryOpen(secret: string, bytes: Buffer, purpose: TokenPurpose): string | null {
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, deriveKey(secret), nonce, { authTagLength: TAG_BYTES })
      .setAAD(describe(purpose))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const sealed = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
