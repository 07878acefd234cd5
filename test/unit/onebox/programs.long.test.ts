import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createLog } from '#core/telemetry.ts';
import { ConfigError, readConfig } from '../../../onebox/config.ts';
import { explain } from '../../../onebox/move/explain.ts';
import { openStorage } from '../../../onebox/storage.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-programs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAMS = {
  serve: 'onebox/main.ts',
  doctor: 'onebox/doctor-main.ts',
  backup: 'onebox/backup-main.ts',
  export: 'onebox/move/export-main.ts',
  import: 'onebox/move/import-main.ts',
  admin: 'bin/admin.ts',
  rewrap: 'bin/rewrap.ts',
  restore: 'bin/restore.ts',
  preflight: 'bin/preflight/main.ts',
} as const;

describe.each(Object.entries(PROGRAMS))('npm run %s', (program, entry) => {
  test('names an option that it does not know, says how it is called, and ends with code 2', () => {
    const args = ['--import', 'tsx', entry, '--confg', 'x'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stdout]).toEqual([2, '']);
    const [says, space, usage] = stderr.split('\n');
    expect([says, space]).toEqual(["Unknown option '--confg'.", '']);
    expect(usage).toMatch(new RegExp(`^npm run ${program} -- `));
    expect(stderr).not.toMatch(/ERR_|\n +at /);
  });

  test('says with --help how it is called, and ends well', () => {
    const args = ['--import', 'tsx', entry, '--help'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^npm run ${program} -- `));
  });
});

test('a data folder that is a file is told as one', async () => {
  const file = join(folder, 'mergeyard.yml');
  const data_dir = join(folder, 'data');
  writeFileSync(data_dir, '');
  const sign_in = { client_id: 'id', client_secret: 'x', administrators: {} };
  const forge = { url: 'https://git.example.org' };
  writeFileSync(file, JSON.stringify({ public_url: 'https://m.example.org', data_dir, sign_in, forge }));
  const opened = openStorage(
    { config: readConfig(file), env: {}, log: createLog({ service: 'onebox' }) },
    createSystemClock(),
    [],
  );
  await expect(opened).rejects.toThrow(ConfigError);
  await expect(opened).rejects.toThrow(
    `data_dir: ${data_dir} is no folder. Name another one, or move that file.`,
  );
});

test('a file that the disk refuses is told by its path, and not as a reason to start the same command again', () => {
  const file = join(folder, 'none', 'mergeyard.export');
  let said = '';
  try {
    writeFileSync(file, '');
  } catch (error) {
    said = explain(error);
  }
  expect(said).toBe(
    `It stopped: ENOENT: no such file or directory, open '${file}'. Check that path, its rights, and the space on its disk.`,
  );
  expect(explain(new TypeError('a row'))).toBe('It stopped (TypeError). Start the same command again.');
});

test('a start that ends before it has the data folder changes nothing in it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onebox-page-'));
  const data_dir = join(folder, 'data');
  mkdirSync(join(data_dir, 'site'), { recursive: true });
  writeFileSync(join(data_dir, 'site', 'own.txt'), 'of a person');
  // A folder in the way of the lock ends the start.
  mkdirSync(join(data_dir, 'serving.sock'));
  const config = join(folder, 'mergeyard.yml');
  const sign_in = { client_id: 'id', client_secret: 'x', administrators: {} };
  const forge = { url: 'https://git.example.org' };
  writeFileSync(config, JSON.stringify({ public_url: 'https://m.example.org', data_dir, sign_in, forge }));
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', 'onebox/main.ts', '--config', config],
    { encoding: 'utf8', env: { ...process.env, TMPDIR: folder } },
  );
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining('serving.sock in the data folder is in the way'),
  ]);
  expect(existsSync(join(data_dir, 'site', 'own.txt'))).toBe(true);
  expect(readdirSync(folder).filter((name) => name.startsWith('mergeyard-page-'))).toEqual([]);
  rmSync(folder, { recursive: true });
});
