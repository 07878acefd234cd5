import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteCommand, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { sweepExpired } from '#core/adapters/dynamo/table/sweep-expired.ts';
import { NOTICE_CLAIM_KEPT_MS } from '#core/domain/api-limits.ts';
import { type Stops, stopAll } from '../../onebox/stops.ts';
import { openStorage } from '../../onebox/storage.ts';
import { givenEvent } from '../builders/store-rows.ts';
import { startTestTable, type TestTable } from '../support/dynamo-table.ts';
import { eventually } from '../support/eventually.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { freshPair } from './store/subject.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const SWEPT_WITHIN_MS = 20_000;
/** More than a page of the sweep. */
const OVER = 220;

describe('rows whose time has passed', () => {
  let table: TestTable;
  let clock: VirtualClock;
  beforeEach(async () => {
    table = await startTestTable();
    clock = new VirtualClock(Date.now());
  });
  afterEach(() => table.stop());

  const seconds = () => Math.floor(clock.now() / 1000);
  const put = (sk: string, ttl?: number) =>
    table.client.send(
      new PutCommand({
        TableName: table.tableName,
        Item: { pk: 'X', sk, ...(ttl === undefined ? {} : { ttl }) },
      }),
    );
  const listLeft = async () => {
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.tableName }));
    return Items.map(({ sk }) => String(sk)).sort();
  };
  const swept = () => ({ client: table.client, name: table.tableName, clock });

  test('are removed, on each page, and all others stay', async () => {
    await put('lasting');
    await put('living', seconds() + 60);
    await Promise.all(Array.from({ length: OVER }, (_, at) => put(`over-${at}`, seconds() - at)));
    expect(await sweepExpired(swept())).toBe(OVER);
    expect(await listLeft()).toEqual(['lasting', 'living']);
    expect(await sweepExpired(swept())).toBe(0);
  });

  test('stay where they are renewed between the look and the removal', async () => {
    await put('over', seconds() - 1);
    await put('renewed', seconds() - 1);
    const client = {
      send: async (command: DeleteCommand) => {
        if (command instanceof DeleteCommand && command.input.Key?.sk === 'renewed')
          await put('renewed', seconds() + 60);
        return table.client.send(command);
      },
    } as never;
    expect(await sweepExpired({ ...swept(), client })).toBe(1);
    expect(await listLeft()).toEqual(['renewed']);
  });

  test('are so many at most in one sweep, and the next one goes on', async () => {
    for (let at = 0; at < 5; at += 1) await put(`over-${at}`, seconds() - 1);
    expect(await sweepExpired(swept(), { rowsMax: 3 })).toBe(3);
    expect(await listLeft()).toHaveLength(2);
    expect(await sweepExpired(swept(), { rowsMax: 3 })).toBe(2);
  });

  test('are no claims any more, also while they can be read', async () => {
    const store = createDynamoStore({ client: table.client, tableName: table.tableName, clock });
    const { connection, repo } = freshPair({});
    await store.createTenant(repo.tenantId, clock.now());
    await store.createConnection(connection, null);
    await store.createRepo(repo, null);
    const event = givenEvent({ tenantId: repo.tenantId, repoId: repo.id });
    const drift = { repoId: repo.id, topic: 'drift', name: 'rights', since: null } as const;
    const claim = async () => [
      await store.claimTelling('refused', event),
      await store.claimBounce(event),
      await store.requestTrouble(repo.tenantId, drift),
    ];
    expect(await claim()).toEqual([true, true, true]);
    await clock.advance(NOTICE_CLAIM_KEPT_MS - 1_000);
    expect(await claim()).toEqual([false, false, false]);
    await clock.advance(2_000);
    // A bounce is told once for good.
    expect(await claim()).toEqual([true, false, true]);
  });
});

test('one box removes rows whose time has passed from its own table', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'onebox-sweep-'));
  const stops: Stops = [];
  try {
    const config = { data_dir: folder, workers: 1 } as never;
    const clock = new VirtualClock(Date.now());
    const { table } = await openStorage(
      { config, env: { PATH: process.env.PATH }, log: SILENT, sweepMs: 20 },
      clock,
      stops,
    );
    const Key = { pk: 'X', sk: 'over' };
    const ttl = Math.floor(clock.now() / 1000) - 1;
    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...Key, ttl } }));
    await eventually('the row is gone', SWEPT_WITHIN_MS, async () => {
      const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key }));
      return Item === undefined;
    });
  } finally {
    await stopAll(stops);
    rmSync(folder, { recursive: true, force: true });
  }
});
