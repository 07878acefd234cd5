import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient, ListStreamsCommand } from '@aws-sdk/client-dynamodb-streams';
import { createTable } from '#core/adapters/dynamo/table/create-table.ts';
import { type RunningDatabase, startDatabase } from '../../../onebox/database.ts';
import { openTable, TABLE_NAME } from '../../../onebox/table.ts';
import { LOCAL_AWS } from '../../support/local-aws.ts';

let folder: string;
let database: RunningDatabase;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mergeyard-table-'));
  database = await startDatabase({ dataFile: join(folder, 'table.sqlite'), env: {} });
});
afterEach(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function countStreams(): Promise<number> {
  const streams = new DynamoDBStreamsClient({ endpoint: database.endpoint, ...LOCAL_AWS });
  const { Streams = [] } = await streams.send(new ListStreamsCommand({ TableName: TABLE_NAME }));
  streams.destroy();
  return Streams.length;
}

describe('the table of one box has no stream, whose records the embedded database would keep for ever', () => {
  test('where it is made', async () => {
    (await openTable(database.endpoint)).close();
    expect(await countStreams()).toBe(0);
  });

  test('where it was made with one', async () => {
    const dynamo = new DynamoDBClient({ endpoint: database.endpoint, ...LOCAL_AWS });
    await createTable(dynamo, TABLE_NAME);
    dynamo.destroy();
    expect(await countStreams()).toBe(1);
    (await openTable(database.endpoint)).close();
    expect(await countStreams()).toBe(0);
    (await openTable(database.endpoint)).close();
    expect(await countStreams()).toBe(0);
  });
});

test('the table, also one of an earlier release, is for the eyes of its account alone', async () => {
  const readModes = () =>
    readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
  (await openTable(database.endpoint)).close();
  const closed = ['table.sqlite', 'table.sqlite-shm', 'table.sqlite-wal'].map((name) => [name, '600']);
  expect(readModes().sort()).toEqual(closed);
  await database.stop();
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
  database = await startDatabase({ dataFile: join(folder, 'table.sqlite'), env: {} });
  (await openTable(database.endpoint)).close();
  expect(readModes().sort()).toEqual(closed);
});
