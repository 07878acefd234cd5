import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { readConfig } from '../../onebox/config.ts';
import { startOnebox } from '../../onebox/service.ts';
import { eventually } from '../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-signal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Processes whose command names the folder's table. */
function readDatabases(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(folder, 'data', 'table.sqlite'));
    } catch {
      return false;
    }
  });
}

function writeConfig(file: string): void {
  writeFileSync(
    file,
    JSON.stringify({
      listen: '127.0.0.1:0',
      public_url: 'http://127.0.0.1:8480',
      data_dir: 'data',
      forge: { url: 'https://127.0.0.1:1' },
      sign_in: { client_id: 'a', client_secret: 'b', administrators: {} },
    }),
  );
}

test('a one box whose database is gone says so', async () => {
  const config = join(folder, 'mergeyard.yml');
  writeConfig(config);
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const parts = { config: readConfig(config), siteDir: folder, env: process.env, log: silent };
  let now = 0;
  const clock = { ...createSystemClock(), monotonic: () => now };
  const box = await startOnebox({ ...parts, clock });
  const ask = async (): Promise<unknown> => {
    const answer = await fetch(`${box.url}/healthz`);
    now += 5_000;
    return [answer.status, await answer.json()];
  };
  try {
    expect(await ask()).toEqual([200, { status: 'ok' }]);
    for (const pid of readDatabases()) process.kill(Number(pid), 'SIGKILL');
    expect(await ask()).toEqual([503, { status: 'unavailable', dependency: 'database' }]);
  } finally {
    await box.stop();
  }
});

test('a start of one box that is ended in between leaves no database behind', async () => {
  const config = join(folder, 'mergeyard.yml');
  writeConfig(config);
  const args = ['--import', 'tsx', 'onebox/main.ts', '--config', config, '--site', folder];
  const box = spawn(process.execPath, args, { stdio: 'ignore' });
  const gone = new Promise((done) => box.once('exit', done));
  await eventually('the database runs', 60_000, async () => readDatabases().length > 0);
  expect(existsSync(join(folder, 'data'))).toBe(true);
  box.kill('SIGTERM');
  expect(await gone).toBe(0);
  expect(readDatabases()).toEqual([]);
});
