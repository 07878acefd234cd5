import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOT, createFakeForge, type FakeForge } from '../../../local/forge/fake-forge.ts';
import { type Started, startEverything } from '../../../local/start.ts';
import { findCanary } from '../../support/canary.ts';

jest.setTimeout(120_000);

describe('a local service that is given a real forge', () => {
  const root = mkdtempSync(join(tmpdir(), 'start-real-'));
  const dataDir = join(root, 'start');
  let theirs: FakeForge;
  let url: string;
  let token: string;
  let started: Started;

  beforeAll(async () => {
    theirs = createFakeForge({ dataDir: join(root, 'theirs'), profile: 'gt126' });
    const address = await theirs.start();
    url = address.httpsUrl;
    token = theirs.addToken(BOT);
    const realForge = { url, caFile: address.caFile, token };
    started = await startEverything({ port: 0, fresh: true, dataDir, realForge });
  });
  afterAll(async () => {
    await started?.stop();
    await theirs.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(started.ready.base_url + path, {
      method,
      headers: {
        authorization: `Bearer ${started.ready.tenants[0]?.token}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  };

  test('the first tenant is connected with it, and finds its repositories there', async () => {
    expect(started.ready.real_forge).toEqual({ url, bot_login: BOT });
    const { json } = await ask('GET', '/api/v1/connections');
    const connections = json as unknown as { readonly id: string }[];
    expect(connections).toEqual([expect.objectContaining({ instance_url: url, bot_username: BOT })]);
    const found = await ask('POST', `/api/v1/connections/${connections[0]?.id}/discover`, {});
    expect([found.status, JSON.stringify(found.json)]).toEqual([200, expect.stringContaining('acme/app')]);
  });

  test('its token is in no file and in nothing that is told', () => {
    const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(dataDir, name))
      .filter((path) => statSync(path).isFile());
    expect(files.filter((path) => findCanary(readFileSync(path), token) !== null)).toEqual([]);
    expect(findCanary(Buffer.from(JSON.stringify(started.ready)), token)).toBeNull();
  });
});
