import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { createTable } from '../../core/adapters/dynamo/table/create-table.ts';
import { startDynamo } from '../../local/emulators/dynamo.ts';
import { LOCAL_AWS } from './local-aws.ts';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

export interface TestTable {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly endpoint: string;
  readRow(pk: string, sk: string): Promise<Record<string, unknown> | undefined>;
  /** Overwrites attributes of a stored row behind the adapter's back. */
  damageRow(pk: string, sk: string, changes: Readonly<Record<string, unknown>>): Promise<void>;
  stop(): Promise<void>;
}

/** A fresh table: on `STORE_ENDPOINT` when set, else on an emulator of its own that ends with `stop`. */
export async function startTestTable(): Promise<TestTable> {
  const external = process.env.STORE_ENDPOINT;
  const emulator =
    external === undefined ? await startDynamo() : { endpoint: external, stop: async () => {} };
  const base = new DynamoDBClient({
    endpoint: emulator.endpoint,
    ...LOCAL_AWS,
    maxAttempts: 2,
  });
  const client = DynamoDBDocumentClient.from(base);
  const tableName = `mergeyard-test-${process.pid}-${performance.now().toFixed(0)}`;
  await createTable(base, tableName);
  const readRow = async (pk: string, sk: string) =>
    (await client.send(new GetCommand({ TableName: tableName, Key: { pk, sk }, ConsistentRead: true }))).Item;
  return {
    client,
    tableName,
    endpoint: emulator.endpoint,
    readRow,
    damageRow: async (pk, sk, changes) => {
      const row = await readRow(pk, sk);
      if (row === undefined) throw new Error(`no row ${pk} ${sk} to damage`);
      const damaged = Object.fromEntries(
        Object.entries({ ...row, ...changes }).filter(([, value]) => value !== undefined),
      );
      await client.send(new PutCommand({ TableName: tableName, Item: damaged }));
    },
    stop: async () => {
      base.destroy();
      await emulator.stop();
    },
  };
}
