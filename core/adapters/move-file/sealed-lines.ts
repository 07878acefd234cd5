import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import * as z from 'zod';
import { flushFolder } from '../system/replace-file.ts';

/** Error with a sentence for the operator. It holds no part of a file and no secret. */
export class MoveError extends Error {
  override readonly name = 'MoveError';
}

const FORMAT = 'mergeyard-export';
/** Version of the format; it grows with every change that an earlier release cannot read. */
const VERSION = 1;
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
/**
 * Cost parameter N of scrypt: 128 MiB and about half a second; the strength that OWASP's password storage cheat sheet
 * names.
 */
const SCRYPT_N = 2 ** 17;
const SCRYPT_N_MAX = 2 ** 20;
const PASSPHRASE_CHARS_MIN = 16;

const Header = z.object({
  format: z.literal(FORMAT),
  version: z.int(),
  salt: z.base64(),
  cost: z.int().min(2).max(SCRYPT_N_MAX),
});
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Writes lines, each sealed under the passphrase and bound to its place; the last one says that it is the last. */
export interface SealedWriter {
  write(value: unknown): void;
  /** Writes the last line; the file is on the disk and has its name afterwards. */
  end(value: unknown): void;
  /** Gives the file up and removes it. */
  abort(): void;
}

/**
 * Opens a file that only its owner may read; an existing one is not replaced. `cost` is N of scrypt. Throws
 * `MoveError`.
 */
export async function openSealedWriter(
  file: string,
  passphrase: string,
  cost: number = SCRYPT_N,
): Promise<SealedWriter> {
  if (passphrase.length < PASSPHRASE_CHARS_MIN)
    throw new MoveError(`The passphrase needs at least ${PASSPHRASE_CHARS_MIN} characters.`);
  if (existsSync(file)) throw new MoveError(`${file} exists: name another file.`);
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(passphrase, salt, cost);
  const next = `${file}.part`;
  rmSync(next, { force: true });
  const descriptor = openSync(next, 'wx', 0o600);
  const header = JSON.stringify({ format: FORMAT, version: VERSION, salt: salt.toString('base64'), cost });
  writeWhole(descriptor, `${header}\n`);
  let place = 0;
  const add = (value: unknown, isLast: boolean): void => {
    const { nonce, aad } = nameOf(header, place, isLast);
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
    const body = Buffer.concat([cipher.update(toText(value), 'utf8'), cipher.final(), cipher.getAuthTag()]);
    writeWhole(descriptor, `${body.toString('base64')}\n`);
    place += 1;
  };
  return {
    write: (value) => add(value, false),
    end(value) {
      add(value, true);
      key.fill(0);
      fsyncSync(descriptor);
      closeSync(descriptor);
      renameSync(next, file);
      flushFolder(dirname(file));
    },
    abort() {
      key.fill(0);
      closeSync(descriptor);
      rmSync(next, { force: true });
    },
  };
}

/** Writes the whole text. One write to a disk that fills up may write a part of it without an error. */
function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    const taken = writeSync(descriptor, bytes, written);
    if (taken === 0)
      throw new MoveError('The disk is full: nothing was exported. Free some space, and export again.');
    written += taken;
  }
}

/** The lines of a file, each proved to be in its place. Throws `MoveError` for a wrong passphrase, and for a file that was changed or cut. */
export async function openSealedReader(
  file: string,
  passphrase: string,
): Promise<{ readonly values: () => AsyncGenerator<unknown> }> {
  const header = await readHeader(file);
  const parsed = Header.safeParse(parseOrNull(header));
  if (!parsed.success) throw new MoveError(`${file} is no export of Mergeyard.`);
  if (parsed.data.version !== VERSION)
    throw new MoveError(`${file} has version ${parsed.data.version}; this release reads version ${VERSION}.`);
  const key = await deriveKey(passphrase, Buffer.from(parsed.data.salt, 'base64'), parsed.data.cost);
  const damaged = (): MoveError =>
    new MoveError(`${file} does not open: the passphrase is another one, or the file was changed or cut.`);
  async function* values(): AsyncGenerator<unknown> {
    let place = -1;
    let isOver = false;
    for await (const line of readLines(file)) {
      place += 1;
      if (place === 0) continue;
      if (isOver) throw damaged();
      const bytes = Buffer.from(line, 'base64');
      const open = (isLast: boolean): unknown => openLine(key, bytes, nameOf(header, place - 1, isLast));
      let value = open(false);
      if (value === undefined) {
        value = open(true);
        isOver = true;
      }
      if (value === undefined) throw damaged();
      yield value;
    }
    if (!isOver) throw damaged();
  }
  return { values };
}

function openLine(
  key: Buffer,
  bytes: Buffer,
  { nonce, aad }: { readonly nonce: Buffer; readonly aad: Buffer },
): unknown {
  if (bytes.length < TAG_BYTES) return undefined;
  const end = bytes.length - TAG_BYTES;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(aad).setAuthTag(bytes.subarray(end));
    const text = Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString('utf8');
    return fromText(text);
  } catch {
    return undefined;
  }
}

/**
 * Nonce and AAD of a line. The key is of this file alone, so the line's place is nonce enough; the last line has one of
 * its own.
 */
function nameOf(header: string, place: number, isLast: boolean) {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(isLast ? 1 : 0, 4);
  nonce.writeUInt32BE(place, 8);
  return { nonce, aad: createHash('sha256').update(header).digest() };
}

function deriveKey(passphrase: string, salt: Buffer, cost: number): Promise<Buffer> {
  return derive(passphrase.normalize('NFC'), salt, KEY_BYTES, {
    N: cost,
    r: 8,
    p: 1,
    maxmem: 2 ** 11 * cost,
  });
}

const BYTES = '$bytes';

function toText(value: unknown): string {
  return JSON.stringify(withBytesNamed(value));
}

/** Marks bytes within a value. `JSON.stringify` cannot: it converts a Buffer before a replacer sees it. */
function withBytesNamed(value: unknown): unknown {
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(withBytesNamed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withBytesNamed(each)]));
}

function fromText(text: string): unknown {
  return JSON.parse(text, (_, each: unknown) => {
    const bytes = typeof each === 'object' && each !== null ? (each as Record<string, unknown>)[BYTES] : null;
    return typeof bytes === 'string' ? new Uint8Array(Buffer.from(bytes, 'base64')) : each;
  });
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function readHeader(file: string): Promise<string> {
  try {
    for await (const line of readLines(file)) return line;
  } catch {
    throw new MoveError(`${file} cannot be read.`);
  }
  return '';
}

function readLines(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}
