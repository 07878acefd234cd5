import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MoveError, openSealedReader, openSealedWriter } from '#core/adapters/move-file/sealed-lines.ts';

const PASSPHRASE = 'a passphrase of a test';
/** Strength is not what is tested. */
const COST = 2 ** 10;

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'sealed-'));
});
afterEach(() => {
  jest.restoreAllMocks();
  fs.rmSync(folder, { recursive: true });
});

/** A disk that takes so many bytes of each call at most. */
function takeAtMost(bytesMax: number): void {
  const write = fs.writeSync;
  const some = (file: number, given: string | Uint8Array, from: unknown): number => {
    const bytes = Buffer.from(given as Uint8Array).subarray(Number(from ?? 0));
    return bytesMax === 0 ? 0 : write(file, bytes, 0, Math.min(bytesMax, bytes.length));
  };
  jest.spyOn(fs, 'writeSync').mockImplementation(some);
}

test('a disk that takes a part of each line gets the rest as well: the file opens, whole', async () => {
  takeAtMost(7);
  const file = join(folder, 'export');
  const writer = await openSealedWriter(file, PASSPHRASE, COST);
  writer.write({ name: 'first' });
  writer.end({ name: 'last' });
  const reader = await openSealedReader(file, PASSPHRASE);
  const found: unknown[] = [];
  for await (const value of reader.values()) found.push(value);
  expect(found).toEqual([{ name: 'first' }, { name: 'last' }]);
});

test('a disk that takes nothing ends the export with words, and no file has its name', async () => {
  const file = join(folder, 'export');
  const writer = await openSealedWriter(file, PASSPHRASE, COST);
  takeAtMost(0);
  expect(() => writer.end({ name: 'last' })).toThrow(MoveError);
  writer.abort();
  expect(fs.readdirSync(folder)).toEqual([]);
});
