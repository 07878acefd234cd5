import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../system/replace-file.ts';

export type KmsErrorName =
  | 'NotFoundException'
  | 'DisabledException'
  | 'InvalidCiphertextException'
  | 'IncorrectKeyException'
  | 'ValidationException'
  | 'UnsupportedOperationException';

/** Error of a key; the caller gets the SDK's own error class of this name. */
export class KmsError extends Error {
  override readonly name: KmsErrorName;
  constructor(name: KmsErrorName, message: string) {
    super(message);
    this.name = name;
  }
}

export type EncryptionContext = Readonly<Record<string, string>>;

const SECRET_BYTES = 32;
const Secret = z.base64().refine((text) => Buffer.from(text, 'base64').length === SECRET_BYTES);
const Stored = z.object({
  keys: z.record(
    z.uuid(),
    z.object({
      enabled: z.boolean(),
      createdAtSeconds: z.number(),
      /** Secrets of a key: the last one encrypts, each of them decrypts. */
      secrets: z.array(Secret).min(1),
    }),
  ),
});
type StoredKey = z.infer<typeof Stored>['keys'][string];

export interface KeyInfo {
  readonly keyId: string;
  readonly arn: string;
  readonly enabled: boolean;
  readonly createdAtSeconds: number;
  readonly rotations: number;
}

const ARN_PREFIX = 'arn:aws:kms:us-east-1:000000000000:key/';
const MAGIC = Buffer.from('MYK1');
const ID_BYTES = 36;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = MAGIC.length + ID_BYTES + 4;
export const PLAINTEXT_BYTES_MAX = 4096;
const CIPHERTEXT_BYTES_MAX = 6144;

/** Keys and their versioned secrets, in memory and, with a file, in a 0600 JSON file that is replaced whole. */
export class Keyring {
  readonly #file: string | null;
  readonly #keys: Map<string, StoredKey>;

  /** `file` null: in memory alone. Throws where the file is damaged. */
  constructor(file: string | null) {
    this.#file = file;
    const stored = file !== null && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { keys: {} };
    this.#keys = new Map(Object.entries(Stored.parse(stored).keys));
  }

  /** Makes a key of this id unless there is one. */
  ensure(keyId: string): void {
    if (keyId.length !== ID_BYTES) throw new Error('the id of a key is a UUID');
    if (!this.#keys.has(keyId)) this.#add(keyId);
  }

  create(): KeyInfo {
    const keyId = randomUUID();
    this.#add(keyId);
    return this.describe(keyId);
  }

  describe(reference: string): KeyInfo {
    const [keyId, key] = this.#find(reference);
    return {
      keyId,
      arn: ARN_PREFIX + keyId,
      enabled: key.enabled,
      createdAtSeconds: key.createdAtSeconds,
      rotations: key.secrets.length - 1,
    };
  }

  /** The key that seals from now on, made where there is none, and its counter: 1 for the first key of the file. */
  newest(): { readonly keyId: string; readonly version: number } {
    if (this.#keys.size === 0) this.#add(randomUUID());
    const keyId = [...this.#keys.keys()].at(-1) ?? '';
    return { keyId, version: this.#keys.size };
  }

  setEnabled(reference: string, enabled: boolean): void {
    const [, key] = this.#find(reference);
    key.enabled = enabled;
    this.#save();
  }

  /** New secret for new ciphertexts; the old ones keep opening what they sealed. */
  rotate(reference: string): KeyInfo {
    const [keyId, key] = this.#findEnabled(reference);
    key.secrets.push(randomBytes(SECRET_BYTES).toString('base64'));
    this.#save();
    return this.describe(keyId);
  }

  encrypt(reference: string, plaintext: Uint8Array, context: EncryptionContext): Buffer {
    const [keyId, key] = this.#findEnabled(reference);
    if (plaintext.byteLength < 1 || plaintext.byteLength > PLAINTEXT_BYTES_MAX) {
      throw new KmsError('ValidationException', 'Plaintext must have 1 to 4096 bytes.');
    }
    const version = key.secrets.length - 1;
    const header = Buffer.alloc(HEADER_BYTES);
    MAGIC.copy(header);
    header.write(keyId, MAGIC.length, 'latin1');
    header.writeUInt32BE(version, MAGIC.length + ID_BYTES);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#secret(key, version), nonce);
    cipher.setAAD(toAad(header, context));
    const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([header, nonce, cipher.getAuthTag(), body]);
  }

  /** `expected` names the key that the caller insists on; null takes the one in the ciphertext. */
  decrypt(
    blob: Uint8Array,
    context: EncryptionContext,
    expected: string | null,
  ): { readonly plaintext: Buffer; readonly keyId: string } {
    const { header, nonce, tag, body, keyId, version } = readBlob(blob);
    const [, key] = this.#findEnabledOf(keyId, expected);
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#secret(key, version), nonce);
      decipher.setAAD(toAad(header, context)).setAuthTag(tag);
      return { plaintext: Buffer.concat([decipher.update(body), decipher.final()]), keyId };
    } catch {
      throw new KmsError('InvalidCiphertextException', 'The ciphertext or its context is not valid.');
    }
  }

  #findEnabledOf(keyId: string, expected: string | null): [string, StoredKey] {
    if (expected !== null && this.#find(expected)[0] !== keyId) {
      throw new KmsError('IncorrectKeyException', 'The ciphertext was made by another key.');
    }
    return this.#findEnabled(keyId);
  }

  #find(reference: string): [string, StoredKey] {
    const keyId = reference.startsWith(ARN_PREFIX) ? reference.slice(ARN_PREFIX.length) : reference;
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new KmsError('NotFoundException', 'There is no such key.');
    return [keyId, key];
  }

  #findEnabled(reference: string): [string, StoredKey] {
    const found = this.#find(reference);
    if (!found[1].enabled) throw new KmsError('DisabledException', 'The key is disabled.');
    return found;
  }

  #secret(key: StoredKey, version: number): Buffer {
    const secret = key.secrets[version];
    if (secret === undefined) throw new KmsError('InvalidCiphertextException', 'Unknown key version.');
    return Buffer.from(secret, 'base64');
  }

  #add(keyId: string): void {
    const secrets = [randomBytes(SECRET_BYTES).toString('base64')];
    this.#keys.set(keyId, { enabled: true, createdAtSeconds: Math.floor(Date.now() / 1000), secrets });
    this.#save();
  }

  #save(): void {
    if (this.#file === null) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    replaceFile(this.#file, JSON.stringify({ keys: Object.fromEntries(this.#keys) }));
  }
}

function readBlob(blob: Uint8Array) {
  const bytes = Buffer.from(blob);
  const bodyAt = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;
  if (bytes.length > CIPHERTEXT_BYTES_MAX) {
    throw new KmsError('ValidationException', 'CiphertextBlob may have 6144 bytes.');
  }
  if (bytes.length <= bodyAt || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new KmsError('InvalidCiphertextException', 'This is no ciphertext of this service.');
  }
  return {
    header: bytes.subarray(0, HEADER_BYTES),
    nonce: bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES),
    tag: bytes.subarray(HEADER_BYTES + NONCE_BYTES, bodyAt),
    body: bytes.subarray(bodyAt),
    keyId: bytes.toString('latin1', MAGIC.length, MAGIC.length + ID_BYTES),
    version: bytes.readUInt32BE(MAGIC.length + ID_BYTES),
  };
}

/** The header is bound too: a ciphertext cannot be relabelled to another key or version. */
function toAad(header: Uint8Array, context: EncryptionContext): Buffer {
  const pairs = Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat([header, Buffer.from(JSON.stringify(pairs))]);
}
