import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import * as z from 'zod';

/** DSSE 1.0 (github.com/secure-systems-lab/dsse): an envelope signs the type of its payload and the payload itself. */
export const Envelope = z.strictObject({
  payloadType: z.string(),
  /** Base64. */
  payload: z.string(),
  signatures: z.array(z.strictObject({ keyid: z.string(), sig: z.string() })).min(1),
});
export type Envelope = z.infer<typeof Envelope>;

/** Pre-authentication encoding: the bytes that are signed. */
export function signedBytes(payloadType: string, payload: Uint8Array): Buffer {
  const header = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `;
  return Buffer.concat([Buffer.from(header), payload]);
}

/** Name of a key: SHA-256 of its public half as DER (SPKI), in hexadecimal digits. */
export function keyIdOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/** Null: the text is no public key on the curve P-256. */
export function readPublicKey(pem: string): KeyObject | null {
  try {
    // A private key would be taken for its public half.
    if (!pem.includes('BEGIN PUBLIC KEY')) return null;
    const key = createPublicKey(pem);
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

/**
 * The payload, if this very key has signed all of it. Null for anything else: another key, a changed byte, a form of the
 * same bytes that was not exported (base64 has several).
 */
export function openEnvelope(envelope: Envelope, key: KeyObject): Buffer | null {
  const payload = readBase64(envelope.payload);
  const [signature, ...others] = envelope.signatures;
  if (payload === null || signature === undefined || others.length > 0) return null;
  const sig = readBase64(signature.sig);
  if (sig === null || signature.keyid !== keyIdOf(key)) return null;
  try {
    return verify('sha256', signedBytes(envelope.payloadType, payload), key, sig) ? payload : null;
  } catch {
    return null;
  }
}

/** Strict: `Buffer.from` skips characters that are no base64. */
function readBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
