import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSessions } from '#core/adapters/identity-forge/sessions.ts';
import { Keyring } from '#core/adapters/key-file/keyring.ts';
import { openFileSigner } from '#core/adapters/key-file/signer.ts';
import { openSealedWriter } from '#core/adapters/move-file/sealed-lines.ts';
import { replaceFile } from '#core/adapters/system/replace-file.ts';
import { backUp } from '../../../../../onebox/backup.ts';
import type { OneboxConfig } from '../../../../../onebox/config.ts';
import { startDatabase } from '../../../../../onebox/database.ts';

let folder: string;
let calls: string[];
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'replace-file-'));
  calls = [];
});
afterEach(() => {
  jest.restoreAllMocks();
  fs.rmSync(folder, { recursive: true, force: true });
});

function watchCalls() {
  const { fsyncSync, renameSync } = fs;
  jest.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    calls.push(`flush ${fs.readlinkSync(`/proc/self/fd/${descriptor}`)}`);
    fsyncSync(descriptor);
  });
  jest.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    calls.push(`rename ${from}`);
    renameSync(from, to);
  });
}

const seal = { seal: (text: string) => text, open: (sealed: string) => sealed };

test.each([
  ['keys.json', (file: string) => void new Keyring(file).newest()],
  ['evidence-key.pem', (file: string) => void openFileSigner(file)],
  ['sessions.json', (file: string) => void createSessions({ file, clock: { now: () => 0 }, seal })],
])('%s is on the disk before it has its name, and its name after that', (name, write) => {
  watchCalls();
  const file = join(folder, name);
  write(file);
  expect(calls).toEqual([`flush ${file}.next`, `rename ${file}.next`, `flush ${folder}`]);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(folder)).toEqual([name]);
});

test('an export is on the disk before it has its name, and its name after that', async () => {
  const file = join(folder, 'mergeyard.export');
  const writer = await openSealedWriter(file, 'a passphrase for this test', 2 ** 10);
  watchCalls();
  writer.end({});
  expect(calls).toEqual([`flush ${file}.part`, `rename ${file}.part`, `flush ${folder}`]);
});

test('a copy of a data folder has its name on the disk once it is done', async () => {
  const [data_dir, to] = [join(folder, 'data'), join(folder, 'copy')];
  fs.mkdirSync(data_dir);
  const database = await startDatabase({ dataFile: join(data_dir, 'table.sqlite'), env: {} });
  await database.stop();
  new Keyring(join(data_dir, 'keys.json')).newest();
  watchCalls();
  await backUp({ data_dir } as OneboxConfig, to, {});
  expect(calls.at(-1)).toBe(`flush ${folder}`);
});

test('a file that cannot be written stays as it was, and leaves nothing beside it', () => {
  const file = join(folder, 'keys.json');
  replaceFile(file, 'before');
  fs.symlinkSync('/dev/full', `${file}.next`);
  expect(() => replaceFile(file, 'after')).toThrow('ENOSPC');
  expect(fs.readFileSync(file, 'utf8')).toBe('before');
  expect(fs.readdirSync(folder)).toEqual(['keys.json']);
});

test('a file system that knows no flush of a folder takes the file all the same', () => {
  const { fsyncSync } = fs;
  jest.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    if (fs.fstatSync(descriptor).isDirectory())
      throw Object.assign(new Error('no such call'), { code: 'EINVAL' });
    fsyncSync(descriptor);
  });
  replaceFile(join(folder, 'keys.json'), 'text');
  expect(fs.readFileSync(join(folder, 'keys.json'), 'utf8')).toBe('text');
});
