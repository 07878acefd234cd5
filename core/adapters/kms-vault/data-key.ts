import { DecryptCommand, GenerateDataKeyCommand, type ReEncryptCommand } from '@aws-sdk/client-kms';
import { VaultError } from '../../ports/system.ts';

/** Errors of KMS that mean "these bytes do not open here", however often it is asked. Everything else is "no answer now". */
const FINAL_KMS_ERRORS: ReadonlySet<string> = new Set([
  'InvalidCiphertextException',
  'IncorrectKeyException',
  'ValidationException',
]);
/**
 * Errors that stand until a person changes the key or the rights to it (KMS, Decrypt, Errors; "Key states of AWS KMS keys").
 * They are no word on these bytes, so nothing is given up by them.
 */
const KEY_FAULTS: ReadonlySet<string> = new Set([
  'AccessDeniedException',
  'DisabledException',
  'KMSInvalidStateException',
  'NotFoundException',
]);
export const DATA_KEY_BYTES = 32;

/** The calls of KMS that are made here. `KMSClient` answers them, and so does a key file. */
export interface KeyService {
  send(command: GenerateDataKeyCommand): Promise<{ Plaintext?: Uint8Array; CiphertextBlob?: Uint8Array }>;
  send(command: DecryptCommand): Promise<{ Plaintext?: Uint8Array }>;
  send(command: ReEncryptCommand): Promise<{ CiphertextBlob?: Uint8Array }>;
}

/** Key-sorted JSON: the same bytes whatever order the context was built in. */
export function aadOf(context: Readonly<Record<string, string>>): Buffer {
  const sorted = Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.from(JSON.stringify(Object.fromEntries(sorted)));
}

export async function generateDataKey(
  config: { readonly client: KeyService; readonly keyId: string },
  context: Record<string, string>,
): Promise<{ plaintext: Uint8Array; wrapped: Uint8Array }> {
  let plaintext: Uint8Array | undefined;
  let wrapped: Uint8Array | undefined;
  try {
    const command = new GenerateDataKeyCommand({
      KeyId: config.keyId,
      KeySpec: 'AES_256',
      EncryptionContext: context,
    });
    ({ Plaintext: plaintext, CiphertextBlob: wrapped } = await config.client.send(command));
  } catch {
    // The SDK's error is dropped whole: it holds the request (A95).
    throw new VaultError('unavailable');
  }
  if (plaintext?.byteLength !== DATA_KEY_BYTES || wrapped === undefined) throw new VaultError('unavailable');
  return { plaintext, wrapped };
}

/**
 * Unwraps a data key. No key id is sent: an older wrapping key still opens what it wrapped, and the caller's rights
 * decide which may.
 */
export async function unwrapDataKey(
  client: KeyService,
  wrapped: Buffer,
  context: Record<string, string> | null,
): Promise<Uint8Array> {
  let plaintext: Uint8Array | undefined;
  try {
    const command = new DecryptCommand({
      CiphertextBlob: wrapped,
      ...(context === null ? {} : { EncryptionContext: context }),
    });
    ({ Plaintext: plaintext } = await client.send(command));
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (FINAL_KMS_ERRORS.has(name)) throw new VaultError('undecryptable');
    throw new VaultError('unavailable', KEY_FAULTS.has(name) ? name : null);
  }
  if (plaintext === undefined) throw new VaultError('unavailable');
  if (plaintext.byteLength === DATA_KEY_BYTES) return plaintext;
  plaintext.fill(0);
  throw new VaultError('undecryptable');
}

/** Parses Base64 strictly: `Buffer.from` would skip other characters, and could open a damaged row by luck. */
export function readBase64(text: string | null): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== text) throw new VaultError('undecryptable');
  return bytes;
}
