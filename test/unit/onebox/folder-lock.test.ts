import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../onebox/config.ts';
import { lockFolder } from '../../../onebox/folder-lock.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a second process on one folder does not start, and says why', async () => {
  const release = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toThrow(ConfigError);
  await expect(lockFolder(folder)).rejects.toThrow(`another Mergeyard process serves ${folder}`);
  await release();
  await (await lockFolder(folder))();
});

test('a process that was killed leaves no lock', async () => {
  const path = join(folder, 'serving.sock');
  const child = spawn(process.execPath, [
    '-e',
    `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`,
  ]);
  try {
    await once(child.stdout, 'data');
    await expect(lockFolder(folder)).rejects.toThrow(ConfigError);
  } finally {
    child.kill('SIGKILL');
  }
  await once(child, 'exit');
  expect(existsSync(path)).toBe(true);
  await (await lockFolder(folder))();
});

test('a folder with a long path is locked as well', async () => {
  const deep = join(folder, 'a'.repeat(120));
  mkdirSync(deep);
  const release = await lockFolder(deep);
  await expect(lockFolder(deep)).rejects.toThrow(ConfigError);
  await release();
});
