import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OneboxConfig, readConfig } from '../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../onebox/service.ts';
import { tenantOf } from '../../onebox/tenant.ts';
import { givenConnection } from '../builders/managed-repo.ts';
import { eventually } from '../support/eventually.ts';

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
async function start(config: OneboxConfig) {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log = { info: write('info'), warn: write('warn'), error: write('error') };
  const box = await startOnebox({ config, siteDir, env: process.env, log });
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
