import { createCipheriv, createDecipheriv } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals a text with AES-GCM; the tag is at the end of the ciphertext. */
export function sealText(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, text: string): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Opens a ciphertext; null: the key or the AAD is another one, or the bytes are damaged. */
export function openText(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array | null,
  sealed: Uint8Array,
): string | null {
  if (key.byteLength !== KEY_BYTES || nonce.byteLength !== NONCE_BYTES) return null;
  if (sealed.byteLength < TAG_BYTES) return null;
  const bodyEnd = sealed.byteLength - TAG_BYTES;
  let body: Buffer | null = null;
  try {
    // The tag length is fixed: without it a four-byte tag would be accepted.
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    if (aad !== null) decipher.setAAD(aad);
    decipher.setAuthTag(sealed.subarray(bodyEnd));
    body = Buffer.concat([decipher.update(sealed.subarray(0, bodyEnd)), decipher.final()]);
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  } finally {
    body?.fill(0);
  }
}
