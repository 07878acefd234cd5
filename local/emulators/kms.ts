import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { EncryptionContext, KeyInfo } from '../../core/adapters/key-file/keyring.ts';
import { Keyring, KmsError, PLAINTEXT_BYTES_MAX } from '../../core/adapters/key-file/keyring.ts';
import type { Emulator } from './dynamo.ts';
import { SigningKeys } from './signing-keys.ts';

export interface KmsOptions {
  /** 0600 JSON file that keeps the key secrets. @default in memory */
  readonly file?: string;
  /** Keys, by UUID, that exist from the start. @default none */
  readonly keyIds?: readonly string[];
  /** The same of keys that sign. @default none */
  readonly signingKeyIds?: readonly string[];
  /** @default a free one */
  readonly port?: number;
  /** @default process.env */
  readonly env?: NodeJS.ProcessEnv;
}

const BODY_BYTES_MAX = 64 * 1024;
const BANNER = 'local KMS: keys lie in a plain file of this user; it is not a security boundary';

type Answer = Readonly<Record<string, unknown>>;

/**
 * KMS for this machine, so that the local runner takes the same path through the crypto as production. It protects
 * nothing, and therefore refuses to start where it could be mistaken for the real one.
 */
export async function startKms(options: KmsOptions = {}): Promise<Emulator & { readonly banner: string }> {
  const env = options.env ?? process.env;
  if (env.AWS_EXECUTION_ENV !== undefined || env.NODE_ENV === 'production') {
    throw new Error(
      'The local KMS does not start on AWS or with NODE_ENV=production: it is not a security boundary.',
    );
  }
  const keyring = new Keyring(options.file ?? null);
  for (const keyId of options.keyIds ?? []) keyring.ensure(keyId);
  const signingFile = options.file === undefined ? null : `${options.file}.signing`;
  const signing = new SigningKeys(signingFile, options.signingKeyIds ?? []);
  const server = createServer((request, response) => {
    void answer(keyring, signing, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the local KMS has no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    banner: BANNER,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  keyring: Keyring,
  signing: SigningKeys,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const operation = String(request.headers['x-amz-target'] ?? '').replace(/^TrentService\./, '');
    const perform = OPERATIONS.get(operation);
    const performSigning = SIGNING.get(operation);
    if (performSigning !== undefined)
      return send(response, 200, performSigning(signing, new Input(await readBody(request))));
    if (perform === undefined) {
      throw new KmsError('UnsupportedOperationException', 'The local KMS has no such operation.');
    }
    send(response, 200, perform(keyring, new Input(await readBody(request))));
  } catch (error) {
    const known = error instanceof KmsError;
    const type = known ? error.name : 'KMSInternalException';
    const message = known ? error.message : 'internal';
    send(response, known ? 400 : 500, { __type: type, message });
  }
}

function send(response: ServerResponse, status: number, body: Answer): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new KmsError('ValidationException', 'The request is too large.');
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (typeof body === 'object' && body !== null) return { ...body };
  } catch {
    // Answered below, with every other body that is no object.
  }
  throw new KmsError('ValidationException', 'The request is not a JSON object.');
}

/** Typed access to a request; a missing or wrong-typed member is the caller's error. */
class Input {
  readonly #body: Readonly<Record<string, unknown>>;

  constructor(body: Readonly<Record<string, unknown>>) {
    this.#body = body;
  }

  textOrNull(name: string): string | null {
    const value = this.#body[name];
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') throw new KmsError('ValidationException', `${name} must be a string.`);
    return value;
  }

  text(name: string): string {
    const value = this.textOrNull(name);
    if (value === null) throw new KmsError('ValidationException', `${name} is required.`);
    return value;
  }

  bytes(name: string): Buffer {
    return Buffer.from(this.text(name), 'base64');
  }

  context(name: string): EncryptionContext {
    const value = this.#body[name] ?? {};
    const context: Record<string, string> = {};
    for (const [key, entry] of Object.entries(value)) {
      if (typeof entry !== 'string') throw new KmsError('ValidationException', `${name} must hold strings.`);
      context[key] = entry;
    }
    return context;
  }

  dataKeyBytes(): number {
    const spec = this.textOrNull('KeySpec');
    if (spec === 'AES_256') return 32;
    if (spec === 'AES_128') return 16;
    const size = this.#body.NumberOfBytes;
    if (spec === null && typeof size === 'number' && size >= 1 && size <= 1024) return size;
    throw new KmsError('ValidationException', 'Name either a KeySpec or a NumberOfBytes from 1 to 1024.');
  }
}

function toMetadata(info: KeyInfo): Answer {
  return {
    KeyId: info.keyId,
    Arn: info.arn,
    Enabled: info.enabled,
    KeyState: info.enabled ? 'Enabled' : 'Disabled',
    KeyUsage: 'ENCRYPT_DECRYPT',
    KeySpec: 'SYMMETRIC_DEFAULT',
    CreationDate: info.createdAtSeconds,
  };
}

const ALGORITHM = 'SYMMETRIC_DEFAULT';

function generateDataKey(keyring: Keyring, input: Input): { plaintext: Buffer; answer: Answer } {
  const plaintext = randomBytes(Math.min(input.dataKeyBytes(), PLAINTEXT_BYTES_MAX));
  const reference = input.text('KeyId');
  const blob = keyring.encrypt(reference, plaintext, input.context('EncryptionContext'));
  const answer = { CiphertextBlob: blob.toString('base64'), KeyId: keyring.describe(reference).arn };
  return { plaintext, answer };
}

const SIGNING: ReadonlyMap<string, (keys: SigningKeys, input: Input) => Answer> = new Map([
  [
    'GetPublicKey',
    (keys: SigningKeys, input: Input): Answer => ({
      PublicKey: keys.publicKey(input.text('KeyId')).toString('base64'),
      KeyUsage: 'SIGN_VERIFY',
      KeySpec: 'ECC_NIST_P256',
    }),
  ],
  [
    'Sign',
    (keys: SigningKeys, input: Input): Answer => {
      const [message, type] = [input.bytes('Message'), input.textOrNull('MessageType')];
      const signature = keys.sign(input.text('KeyId'), message, type, input.text('SigningAlgorithm'));
      return { Signature: signature.toString('base64'), SigningAlgorithm: 'ECDSA_SHA_256' };
    },
  ],
]);

const OPERATIONS: ReadonlyMap<string, (keyring: Keyring, input: Input) => Answer> = new Map([
  ['CreateKey', (keyring: Keyring) => ({ KeyMetadata: toMetadata(keyring.create()) })],
  [
    'DescribeKey',
    (keyring: Keyring, input: Input) => ({ KeyMetadata: toMetadata(keyring.describe(input.text('KeyId'))) }),
  ],
  [
    'EnableKey',
    (keyring: Keyring, input: Input) => {
      keyring.setEnabled(input.text('KeyId'), true);
      return {};
    },
  ],
  [
    'DisableKey',
    (keyring: Keyring, input: Input) => {
      keyring.setEnabled(input.text('KeyId'), false);
      return {};
    },
  ],
  [
    'RotateKeyOnDemand',
    (keyring: Keyring, input: Input) => ({ KeyId: keyring.rotate(input.text('KeyId')).arn }),
  ],
  [
    'Encrypt',
    (keyring: Keyring, input: Input) => {
      const reference = input.text('KeyId');
      const blob = keyring.encrypt(reference, input.bytes('Plaintext'), input.context('EncryptionContext'));
      return {
        CiphertextBlob: blob.toString('base64'),
        KeyId: keyring.describe(reference).arn,
        EncryptionAlgorithm: ALGORITHM,
      };
    },
  ],
  [
    'Decrypt',
    (keyring: Keyring, input: Input) => {
      const opened = keyring.decrypt(
        input.bytes('CiphertextBlob'),
        input.context('EncryptionContext'),
        input.textOrNull('KeyId'),
      );
      return {
        Plaintext: opened.plaintext.toString('base64'),
        KeyId: keyring.describe(opened.keyId).arn,
        EncryptionAlgorithm: ALGORITHM,
      };
    },
  ],
  [
    'GenerateDataKey',
    (keyring: Keyring, input: Input) => {
      const made = generateDataKey(keyring, input);
      return { ...made.answer, Plaintext: made.plaintext.toString('base64') };
    },
  ],
  [
    'GenerateDataKeyWithoutPlaintext',
    (keyring: Keyring, input: Input) => generateDataKey(keyring, input).answer,
  ],
  [
    'ReEncrypt',
    (keyring: Keyring, input: Input) => {
      const opened = keyring.decrypt(
        input.bytes('CiphertextBlob'),
        input.context('SourceEncryptionContext'),
        input.textOrNull('SourceKeyId'),
      );
      const reference = input.text('DestinationKeyId');
      const blob = keyring.encrypt(
        reference,
        opened.plaintext,
        input.context('DestinationEncryptionContext'),
      );
      return {
        CiphertextBlob: blob.toString('base64'),
        SourceKeyId: keyring.describe(opened.keyId).arn,
        KeyId: keyring.describe(reference).arn,
        SourceEncryptionAlgorithm: ALGORITHM,
        DestinationEncryptionAlgorithm: ALGORITHM,
      };
    },
  ],
]);
