import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUp } from '../../../onebox/backup.ts';
import { type OneboxConfig, readConfig } from '../../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { lookAtTable } from '../../../onebox/table-look.ts';
import { tenantOf } from '../../../onebox/tenant.ts';
import { givenConnection } from '../../builders/managed-repo.ts';
import { eventually } from '../../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-live-'));
const siteDir = join(folder, 'site');
const boxes: Onebox[] = [];
let folders = 0;

beforeAll(() => {
  mkdirSync(join(siteDir, 'assets'), { recursive: true });
  writeFileSync(join(siteDir, 'index.html'), '<!doctype html>');
  writeFileSync(join(siteDir, 'assets', 'main.js'), 'export {}');
});
afterEach(async () => {
  for (const box of boxes.splice(0)) await box.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function givenConfig(changes: object = {}): OneboxConfig {
  folders += 1;
  const file = join(folder, `mergeyard-${folders}.yml`);
  const config = {
    listen: '127.0.0.1:0',
    public_url: 'http://127.0.0.1:8480',
    data_dir: `data-${folders}`,
    forge: { url: 'https://127.0.0.1:1' },
    sign_in: { client_id: 'a', client_secret: 'b', administrators: {} },
    ...changes,
  };
  writeFileSync(file, JSON.stringify(config));
  return readConfig(file);
}

/** Log lines as `level message`. */
async function start(config: OneboxConfig, site = siteDir) {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log = { info: write('info'), warn: write('warn'), error: write('error') };
  const box = await startOnebox({ config, siteDir: site, env: process.env, log });
  boxes.push(box);
  return { box, lines };
}

describe('a one box answers those who look whether it is up', () => {
  test.each(['/', '/healthz', '/assets/main.js'])('HEAD %s as GET, without the body', async (path) => {
    const { box } = await start(givenConfig());
    const [got, head] = [
      await fetch(`${box.url}${path}`),
      await fetch(`${box.url}${path}`, { method: 'HEAD' }),
    ];
    expect([got.status, head.status]).toEqual([200, 200]);
    expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'));
    expect([(await got.text()) !== '', await head.text()]).toEqual([true, '']);
  });

  test('and says of an address that is none that it is none, and of the API what it takes', async () => {
    const { box } = await start(givenConfig());
    const ask = async (path: string) => (await fetch(`${box.url}${path}`, { method: 'HEAD' })).status;
    expect([await ask('/no-file.txt'), await ask('/api/v1/user/repos')]).toEqual([404, 405]);
  });
});

test('the page is served from a folder whose name has characters of addresses in it', async () => {
  const odd = join(folder, 'a#b?c%41');
  mkdirSync(odd);
  writeFileSync(join(odd, 'index.html'), '<!doctype html>');
  const { box } = await start(givenConfig(), odd);
  expect((await fetch(`${box.url}/`)).status).toBe(200);
});

test('a one box whose data folder is removed ends with a reason, and says that it cannot serve', async () => {
  const config = givenConfig();
  const { box, lines } = await start(config);
  expect(lines[0]).toBe('info a new data folder was made: nothing was there');
  expect((await fetch(`${box.url}/healthz`)).status).toBe(200);
  rmSync(config.data_dir, { recursive: true });
  expect(await box.whenBroken).toBe(
    `${config.data_dir} was removed or replaced while this process served it, and what it writes now is lost. Put the data folder back from its last copy, and start again.`,
  );
  await eventually('it says so', 10_000, async () => (await fetch(`${box.url}/healthz`)).status === 503);
  const answer = await fetch(`${box.url}/healthz`);
  expect(await answer.json()).toEqual({ status: 'unavailable', dependency: 'data_folder' });
});

test('a one box whose forge.url names another forge than its repositories are of does not start', async () => {
  const config = givenConfig();
  const { box } = await start(config);
  const tenantId = tenantOf(config.forge.url);
  await box.store.createTenant(tenantId, 1);
  await box.store.createConnection(givenConnection({ tenantId, instanceUrl: config.forge.url }));
  await boxes.pop()?.stop();
  const moved = { ...config, forge: { url: 'https://127.0.0.1:2' } };
  await expect(start(moved)).rejects.toThrow(
    /made with https:\/\/127\.0\.0\.1:1 as the forge, and forge\.url names https:\/\/127\.0\.0\.1:2: /,
  );
  await start(config);
});

test('a start removes the snapshots that killed backups left', async () => {
  const config = givenConfig();
  const made = join(config.data_dir, '.dynoxide', 'snapshots');
  mkdirSync(made, { recursive: true });
  writeFileSync(join(made, 'mergeyard-killed.db'), 'a whole table');
  utimesSync(join(made, 'mergeyard-killed.db'), 0, 0);
  await start(config);
  expect(readdirSync(made)).toEqual([]);
});

describe('the doctor says of the table what a start says', () => {
  const ask = async (config: OneboxConfig) =>
    (await lookAtTable(config.data_dir, process.env))?.fault ?? null;
  const serveOnce = async (config: OneboxConfig): Promise<string> => {
    await start(config);
    expect(await ask(config)).toBeNull();
    await boxes.pop()?.stop();
    return join(config.data_dir, 'table.sqlite');
  };

  test('that one which was cut in half is damaged, and that a right one is right, also while it is served', async () => {
    const served = givenConfig();
    await serveOnce(served);
    // A copy is one whole file; what a process served may lie in a second one beside it.
    const config = { ...served, data_dir: join(folder, 'copy') };
    await backUp(served, config.data_dir, process.env);
    const table = join(config.data_dir, 'table.sqlite');
    truncateSync(table, statSync(table).size / 2);
    await expect(start(config)).rejects.toThrow('table.sqlite in the data folder is damaged: ');
    expect(await ask(config)).toContain('table.sqlite in the data folder is damaged: ');
  });

  test('that one which people have used is gone, or empty', async () => {
    const config = givenConfig();
    const table = await serveOnce(config);
    const sessions = join(config.data_dir, 'sessions.json');
    writeFileSync(sessions, readFileSync(sessions, 'utf8').replace('"used":false', '"used":true'));
    for (const damage of [() => truncateSync(table, 0), () => rmSync(table)]) {
      damage();
      await expect(start(config)).rejects.toThrow('table.sqlite is gone from the data folder, or empty, ');
      expect(await ask(config)).toContain('table.sqlite is gone from the data folder, or empty, ');
    }
  });
});
