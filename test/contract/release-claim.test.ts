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
    const child = spawn(process.execPath, ['--import', 'tsx', 'bin/admin.ts', 'release-claim', ...args], {
      env: {
        PATH: process.env.PATH,
        ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
        AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
    child.on('close', (code) => resolve({ code, output: output.trim() }));
  });

const release = (...what: string[]) => run('--table', table.tableName, '--instance', INSTANCE, ...what);

async function givenClaims(tenantId: string, verifiedAt?: number) {
  const ids = { tenantId, connectionId: `connection-of-${tenantId}` };
  await store.createTenant(tenantId, 0);
  await store.createConnection(
    givenConnection({
      ...{ id: ids.connectionId, tenantId, instanceUrl: INSTANCE, botUsername: `bot-of-${tenantId}` },
      verifiedAt: verifiedAt ?? null,
    }),
  );
  const repo = givenRepo({
    ...{ ...ids, id: `repo-of-${tenantId}`, slug: `acme/${tenantId}`, instanceUrl: INSTANCE },
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
