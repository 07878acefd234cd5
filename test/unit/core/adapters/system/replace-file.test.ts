import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSessions } from '#core/adapters/identity-forge/sessions.ts';
import { Keyring } from '#core/adapters/key-file/keyring.ts';
import { openFileSigner } from '#core/adapters/key-file/signer.ts';
import { replaceFile } from '#core/adapters/system/replace-file.ts';

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
