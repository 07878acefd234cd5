import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { type CopyOptions, copyBack, kindOf } from '#core/adapters/dynamo/table/copy-back.ts';
import { createTable } from '#core/adapters/dynamo/table/create-table.ts';
import { PARTITIONS } from '#core/contracts/internal/table.ts';
import type { TenantId } from '#core/domain/ids.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { startTestTable, type TestTable } from '../support/dynamo-table.ts';
import { runProgram } from '../support/run-program.ts';

const NOW = 1_800_000_000_000;
const RESTORED = 'restored';
const TENANT = { pk: 'T#1', sk: 'A', name: 'acme' };
const REPO = { pk: 'T#1', sk: 'REPO#1', slug: 'acme/app', batch_max: 5 };
const RECORD = { pk: 'R#1', sk: 'Q', document: 'of then' };
const BATCH = { pk: 'TB#1', sk: 'B#1', prs: [1, 2] };
const LEASE = { pk: 'L#1', sk: 'L', owner: 'of then' };
const ENDED = { pk: 'TE#1', sk: 'E#1', ttl: NOW / 1000 - 1 };
const THEN = [TENANT, REPO, RECORD, BATCH, LEASE, ENDED];

let live: TestTable;
const put = (table: string, row: object) =>
  live.client.send(new PutCommand({ TableName: table, Item: { ...row } }));
const copy = (mode: CopyOptions['mode']) =>
  copyBack({ client: live.client, live: live.tableName, restored: RESTORED, mode, now: NOW });

/** The live table has lost a repository and its history, has another name and a newer record, and one new tenant. */
beforeEach(async () => {
  live = await startTestTable();
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const base = new DynamoDBClient({ endpoint: live.endpoint, region: 'us-east-1', credentials });
  await createTable(base, RESTORED);
  base.destroy();
  for (const row of THEN) {
    await put(RESTORED, row);
    await put(live.tableName, row);
  }
  for (const { pk, sk } of [REPO, BATCH, LEASE, ENDED])
    await live.client.send(new DeleteCommand({ TableName: live.tableName, Key: { pk, sk } }));
  await live.damageRow('T#1', 'A', { name: 'overwritten' });
  await live.damageRow('R#1', 'Q', { document: 'of now' });
  await put(live.tableName, { pk: 'T#2', sk: 'A', name: 'new' });
});
afterEach(() => live.stop());

const NOTHING = { same: 0, missing: 0, changed: 0, kept: 0, left: 0 };

describe('a table of another time', () => {
  test('a dry run says what differs, and writes nothing', async () => {
    const { kinds, left } = await copy('look');
    expect([...left]).toEqual([]);
    expect(Object.fromEntries(kinds)).toEqual({
      tenant: { ...NOTHING, missing: 1, changed: 1, kept: 1 },
      batches: { ...NOTHING, missing: 1 },
    });
    expect(await live.readRow('T#1', 'REPO#1')).toBeUndefined();
  });

  test('rows that are gone come back; what was changed since stays, as do rows that were made since', async () => {
    await copy('missing');
    expect(await live.readRow('T#1', 'REPO#1')).toEqual(REPO);
    expect(await live.readRow('TB#1', 'B#1')).toEqual(BATCH);
    expect(await live.readRow('T#1', 'A')).toMatchObject({ name: 'overwritten' });
    expect(await live.readRow('T#2', 'A')).toMatchObject({ name: 'new' });
    expect((await copy('look')).kinds.get('tenant')).toEqual({ ...NOTHING, same: 1, changed: 1, kept: 1 });
  });

  test('rows that were changed come back where it is asked for, but never over the newer record of a queue', async () => {
    await copy('all');
    expect(await live.readRow('T#1', 'A')).toEqual(TENANT);
    expect(await live.readRow('R#1', 'Q')).toMatchObject({ document: 'of now' });
    expect(await live.readRow('T#2', 'A')).toMatchObject({ name: 'new' });
  });

  test('the document for operators names each right on the tables that a copy takes', async () => {
    const taken = new Set<string>();
    live.client.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          taken.add(String(commandName).replace(/Command$/, ''));
          return next(args);
        },
      { step: 'initialize', name: 'rights', priority: 'low' },
    );
    await put(RESTORED, { ...TENANT, pk: 'T#3' });
    await copy('all');
    const sentence = readFileSync('docs/operate.md', 'utf8')
      .split('\n')
      .find((line) => line.startsWith('Rights: `dynamodb:RestoreTableToPointInTime`'));
    const named = [...(sentence ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(named).toEqual(expect.arrayContaining([...taken]));
    // Of the command itself, which asks for the last tick, and waits for the table.
    expect(named.filter((name) => !taken.has(name ?? '')).sort()).toEqual(['DescribeTable', 'GetItem']);
  });

  test('an API token does not come back, and the document for operators says so', async () => {
    await put(RESTORED, { pk: 'TT#1', sk: 'A', tenant_id: '1' });
    await copy('all');
    expect(await live.readRow('TT#1', 'A')).toBeUndefined();
    expect(readFileSync('docs/operate.md', 'utf8')).toContain('nor do API tokens');
  });

  test('rows of a moment do not come back: leases, and what has ended by time', async () => {
    await copy('all');
    expect(await live.readRow('L#1', 'L')).toBeUndefined();
    expect(await live.readRow('TE#1', 'E#1')).toBeUndefined();
  });

  test('the lease of a repository that comes back no longer ends by time, and its fence goes on', async () => {
    await put(live.tableName, { ...LEASE, fence: 7, ttl: NOW / 1000 + 3600 });
    await copy('look');
    expect(await live.readRow('L#1', 'L')).toHaveProperty('ttl');
    await copy('missing');
    expect(await live.readRow('L#1', 'L')).toEqual({ ...LEASE, fence: 7 });
  });

  test('the record of a queue does not come back where it is lost: it knows nothing of what was posted since', async () => {
    await live.client.send(new DeleteCommand({ TableName: live.tableName, Key: { pk: 'R#1', sk: 'Q' } }));
    await copy('missing');
    expect(await live.readRow('R#1', 'Q')).toBeUndefined();
  });

  test('rows of a tenant that has left since stay erased, those of its repositories with them', async () => {
    const gone = '00000000-0000-4000-8000-000000000003' as TenantId;
    const rows = [
      { pk: `T#${gone}`, sk: 'A', name: 'gone' },
      { pk: `T#${gone}`, sk: 'REPO#3', repo_id: '3' },
      { pk: `TE#${gone}`, sk: 'E#1' },
      { pk: 'R#3', sk: 'W' },
      { pk: 'UQ#REPO#3', sk: 'U', tenant_id: gone },
    ];
    for (const row of rows) await put(RESTORED, row);
    const clock = { now: () => NOW, sleep: async () => {} };
    await createDynamoStore({ client: live.client, tableName: live.tableName, clock }).keepAudit(gone);
    const { kinds, left } = await copy('all');
    expect([...left]).toEqual([gone]);
    for (const { pk, sk } of rows) expect([pk, await live.readRow(pk, sk)]).toEqual([pk, undefined]);
    expect(kinds.get('addresses')).toEqual({ ...NOTHING, left: 1 });
    // One that was lost has no such notes, and comes back.
    expect(await live.readRow('T#1', 'REPO#1')).toEqual(REPO);
  });

  test.each(['missing', 'all'] as const)(
    'what comes back is counted again (put %s), beside what was made since',
    async (mode) => {
      const clock = { now: () => NOW, sleep: async () => {} };
      const storeOf = (tableName: string) => createDynamoStore({ client: live.client, tableName, clock });
      const tenantId = '00000000-0000-4000-8000-000000000004' as TenantId;
      const deleted = givenRepo({ id: 'repo-deleted', tenantId });
      for (const table of [RESTORED, live.tableName]) {
        await storeOf(table).createTenant(tenantId, 1);
        await storeOf(table).createConnection(givenConnection({ tenantId }));
        expect(await storeOf(table).createRepo(deleted, null)).toBe('created');
      }
      const store = storeOf(live.tableName);
      await store.deleteRepo(deleted);
      await store.createRepo(givenRepo({ id: 'repo-since', tenantId, slug: 'acme/since' }), null);
      await copy(mode);
      // As where it was stopped between the two.
      await live.damageRow(`T#${tenantId}`, 'A', { repo_count: 1 });
      await copy('missing');
      expect(await store.listRepos(tenantId)).toHaveLength(2);
      expect(await store.loadTenant(tenantId)).toMatchObject({ connections: 1, repos: 2 });
      expect(await store.createRepo(givenRepo({ id: 'repo-3', tenantId, slug: 'acme/3' }), 2)).toBe(
        'limit_reached',
      );
    },
  );

  describe('a tenant that has left and come again', () => {
    const ID = '00000000-0000-4000-8000-000000000003' as TenantId;
    const AGAIN = { pk: `T#${ID}`, sk: 'A', created_at: NOW + 1 };
    const OF_IT = [
      { pk: `T#${ID}`, sk: 'REPO#3', repo_id: '3' },
      { pk: `TE#${ID}`, sk: 'E#1' },
      { pk: 'R#3', sk: 'W' },
      { pk: 'UQ#REPO#3', sk: 'U', tenant_id: ID },
    ];
    const readAll = () => Promise.all(OF_IT.map(({ pk, sk }) => live.readRow(pk, sk)));
    beforeEach(async () => {
      for (const row of OF_IT) await put(RESTORED, row);
      const clock = { now: () => NOW, sleep: async () => {} };
      await createDynamoStore({ client: live.client, tableName: live.tableName, clock }).keepAudit(ID);
    });

    test('has nothing back of before it left, and keeps what it has made since', async () => {
      await put(RESTORED, { ...AGAIN, created_at: NOW - 1 });
      await put(live.tableName, AGAIN);
      expect([...(await copy('all')).left]).toEqual([ID]);
      expect(await live.readRow(AGAIN.pk, AGAIN.sk)).toEqual(AGAIN);
      expect(await readAll()).toEqual(OF_IT.map(() => undefined));
    });

    test.each([true, false])(
      'has back what it has made since and lost (own row there: %s)',
      async (isThere) => {
        await put(RESTORED, AGAIN);
        if (isThere) await put(live.tableName, AGAIN);
        expect([...(await copy('missing')).left]).toEqual([]);
        expect(await live.readRow(AGAIN.pk, AGAIN.sk)).toEqual(AGAIN);
        expect(await readAll()).toEqual(OF_IT);
      },
    );
  });

  test('every partition of the table is one kind', () => {
    for (const [kind, begin] of Object.entries(PARTITIONS))
      expect([begin, kindOf(`${begin}x`)]).toEqual([begin, kind]);
    expect(kindOf('ZZ#1')).toBeNull();
  });

  describe('a table to restore into that is there already', () => {
    const AT = '2026-11-22T10:00:00Z';
    const restoreFrom = (endpoint: string) =>
      runProgram('bin/restore.ts', ['--table', 'live', '--restored', RESTORED, '--at', AT], {
        PATH: process.env.PATH,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      });
    /** What AWS tells of a table that was restored. */
    const restoreBeside = async (name: string, at: string) => {
      const calls: string[] = [];
      const server = createServer((request, response) => {
        calls.push(String(request.headers['x-amz-target']).replace(/^.*\./, ''));
        const summary = {
          SourceTableArn: `arn:aws:dynamodb:us-east-1:123456789012:table/${name}`,
          RestoreDateTime: Date.parse(at) / 1000,
          RestoreInProgress: false,
        };
        response.setHeader('content-type', 'application/x-amz-json-1.0');
        response.end(JSON.stringify({ Table: { TableStatus: 'ACTIVE', RestoreSummary: summary } }));
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const { port } = server.address() as AddressInfo;
      const ended = await restoreFrom(`http://127.0.0.1:${port}`);
      server.close();
      return { ...ended, calls: new Set(calls) };
    };

    test('is refused where it was not restored at all', async () => {
      const { code, output } = await restoreFrom(live.endpoint);
      expect([code, output]).toEqual([
        1,
        expect.stringContaining(
          `${RESTORED} is there already: it was not restored from a table, as far as AWS tells. Name another`,
        ),
      ]);
    });

    test.each([
      [
        'live',
        '2026-11-22T09:00:00Z',
        'it was restored to 2026-11-22T09:00:00.000Z, not to 2026-11-22T10:00',
      ],
      ['other', AT, 'it was restored from other, not from live'],
    ])('is refused where it is %s as it was at %s', async (name, at, words) => {
      const { code, output, calls } = await restoreBeside(name, at);
      expect([code, output]).toEqual([1, expect.stringContaining(words)]);
      expect([...calls]).toEqual(['DescribeTable']);
    });

    test('is taken where it was restored from that table to that time: the command goes on', async () => {
      const { code, output, calls } = await restoreBeside('live', AT);
      expect([code, output]).toEqual([0, expect.stringContaining(`${RESTORED} is ready`)]);
      expect([...calls]).toEqual(['DescribeTable']);
    });
  });

  test('the command writes nothing while the tick runs, and says what to switch off', async () => {
    await put(live.tableName, { pk: 'G#HEALTH', sk: 'TICK', at: Date.now() - 60_000 });
    const args = ['--table', live.tableName, '--restored', RESTORED, '--put', 'missing'];
    const { code, output } = await runProgram('bin/restore.ts', args, {
      PATH: process.env.PATH,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: live.endpoint,
    });
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/the tick ran at .+: disable its rule and the worker first/),
    ]);
    expect(await live.readRow('T#1', 'REPO#1')).toBeUndefined();
  });
});
