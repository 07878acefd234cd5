import { spawn } from 'node:child_process';
import { createDynamoStore, type DynamoStore } from '#core/adapters/dynamo/store.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { startTestTable, type TestTable } from '../support/dynamo-table.ts';

const INSTANCE = 'https://git.example.org';

let table: TestTable;
let store: DynamoStore;

beforeAll(async () => {
  table = await startTestTable();
  store = createDynamoStore({ client: table.client, tableName: table.tableName, clock: createSystemClock() });
});
afterAll(() => table.stop());

const run = (...args: string[]) =>
  new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'bin/admin.ts', ...args], {
      env: {
        PATH: process.env.PATH,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
        AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
    child.on('close', (code) => resolve({ code, output: output.trim() }));
  });

const release = (...what: string[]) =>
  run('release-claim', '--table', table.tableName, '--instance', INSTANCE, ...what);

async function givenClaims(tenantId: string, verifiedAt?: number) {
  const ids = { tenantId, connectionId: `connection-of-${tenantId}` };
  await store.createTenant(tenantId, 0);
  await store.createConnection(
    givenConnection({
      id: ids.connectionId,
      tenantId,
      instanceUrl: INSTANCE,
      botUsername: `bot-of-${tenantId}`,
      verifiedAt: verifiedAt ?? null,
    }),
  );
  const repo = givenRepo({
    ...ids,
    id: `repo-of-${tenantId}`,
    slug: `acme/${tenantId}`,
    instanceUrl: INSTANCE,
    ...(verifiedAt === undefined ? {} : { verifiedAt }),
  });
  expect(await store.createRepo(repo, null)).toBe('created');
  return repo;
}

describe('npm run admin -- release-claim', () => {
  test('frees what was never verified, in any spelling, and says whose it was', async () => {
    const repo = await givenClaims('squatter');
    expect(await release('--repo', 'ACME/Squatter')).toEqual({
      code: 0,
      output: JSON.stringify({ kind: 'released', tenantId: 'squatter', id: repo.id }),
    });
    expect(await store.findRepoForHook({ instanceUrl: INSTANCE, slug: repo.slug })).toBeNull();
    expect((await store.getRepo(repo.id))?.tombstone).toBe(true);
    expect(await release('--bot', 'BOT-of-squatter')).toEqual({
      code: 0,
      output: JSON.stringify({ kind: 'released', tenantId: 'squatter', id: 'connection-of-squatter' }),
    });
    expect(await store.findConnection(INSTANCE, 'bot-of-squatter')).toBeNull();
    expect(await release('--bot', 'bot-of-squatter')).toEqual({ code: 1, output: '{"kind":"no_claim"}' });
    expect(await release('--repo', repo.slug)).toEqual({ code: 1, output: '{"kind":"no_claim"}' });
  });

  test('a claim that the forge confirmed once stays', async () => {
    const repo = await givenClaims('owner', 5);
    for (const what of [
      ['--bot', 'bot-of-owner'],
      ['--repo', 'acme/owner'],
    ]) {
      expect(await release(...what)).toMatchObject({
        code: 1,
        output: expect.stringContaining('"verified"'),
      });
    }
    expect(await store.getRepo(repo.id)).toMatchObject({ tombstone: false });
    expect(await store.findConnection(INSTANCE, 'bot-of-owner')).toMatchObject({ deleting: false });
  });

  test('says how it is used when something is missing', async () => {
    expect(await release()).toEqual({ code: 2, output: expect.stringContaining('release-claim') });
    expect(await release('--bot', 'x', '--repo', 'a/b')).toMatchObject({ code: 2 });
  });
});

describe('npm run admin -- audit', () => {
  test('prints the notes of a tenant, and after it has left those that are kept, which name no id', async () => {
    const tenantId = '3f2b8a1c-5d4e-4f60-8a7b-9c0d1e2f3a4b';
    await store.createTenant(tenantId, 0);
    const note = {
      id: 'c0ffee00-5d4e-4f60-8a7b-9c0d1e2f3a4b',
      tenantId,
      at: Date.now(),
      actor: tenantId,
      from: '198.51.100.7',
      action: 'repo.update',
      target: 'repo-1',
      result: 'ok' as const,
    };
    await store.appendAudit(note);
    const read = async (...about: string[]) => {
      const { code, output } = await run('audit', '--table', table.tableName, '--tenant', tenantId, ...about);
      expect(code).toBe(0);
      return output.split('\n').map((line) => JSON.parse(line));
    };
    expect(await read()).toEqual([{ ...note, at: new Date(note.at).toISOString() }]);
    await store.keepAudit(tenantId);
    await store.deleteHistory(tenantId, 'audit');
    const kept = await read();
    expect(kept.map(({ action }) => action)).toEqual(['tenant.erased', 'repo.update']);
    expect(JSON.stringify(kept)).not.toMatch(/3f2b8a1c|repo-1|198\./);
    expect(await read('--about', 'repo-1')).toEqual(kept.slice(1));
  });
});
