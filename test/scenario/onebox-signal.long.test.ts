import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('a start of one box that is ended in between leaves no database behind', async () => {
  const config = join(folder, 'mergeyard.yml');
  writeFileSync(
    config,
    JSON.stringify({
      listen: '127.0.0.1:0',
      public_url: 'http://127.0.0.1:8480',
      data_dir: 'data',
      forge: { url: 'https://127.0.0.1:1' },
      sign_in: { client_id: 'a', client_secret: 'b', administrators: {} },
    }),
  );
  const args = ['--import', 'tsx', 'onebox/main.ts', '--config', config, '--site', folder];
  const box = spawn(process.execPath, args, { stdio: 'ignore' });
  const gone = new Promise((done) => box.once('exit', done));
  await eventually('the database runs', 60_000, async () => readDatabases().length > 0);
  expect(existsSync(join(folder, 'data'))).toBe(true);
  box.kill('SIGTERM');
  expect(await gone).toBe(0);
  expect(readDatabases()).toEqual([]);
});
