import {
  ConditionalCheckFailedException,
  InternalServerError,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Delivery } from '#core/adapters/dynamo/table/deliver-changes.ts';
import { watchOwnChanges } from '#core/adapters/dynamo/table/own-changes.ts';
import type { Json, Stoppable } from '#core/ports/invocable.ts';
import { eventually } from '../../../../../support/eventually.ts';

const TableName = 'changes';
const keyOf = (pk: string) => ({ pk, sk: 'A' });
const METADATA = { message: 'no', $metadata: {} };

interface Told {
  readonly eventName: string;
  readonly dynamodb: {
    readonly Keys: { readonly pk: { readonly S: string } };
    readonly SequenceNumber: string;
  };
}

const running: Stoppable[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

/** A client whose table answers so, and one who follows what is written. */
function given({
  answer = async (): Promise<object> => ({}),
  deliver = (_batch: readonly Told[]): Json => null,
  changes = {} as Partial<Delivery>,
} = {}) {
  const client = { send: answer } as unknown as DynamoDBDocumentClient;
  const feed = watchOwnChanges(client);
  const batches: string[][] = [];
  const stopped = feed.follow(
    {
      target: {
        invoke: async (event) => {
          const records = (event as unknown as { Records: readonly Told[] }).Records;
          batches.push(records.map(({ eventName, dynamodb }) => `${eventName} ${dynamodb.Keys.pk.S}`));
          return deliver(records);
        },
      },
      batchSize: 100,
      windowMs: 5,
      retries: 1,
      maxAgeMs: 60_000,
      reportsFailures: true,
      bisects: true,
      giveUp: async () => {},
      ...changes,
    },
    () => {},
  );
  running.push(stopped);
  return { client, batches, stopped };
}

test('every kind of write is told with its key, in order, and a read is not', async () => {
  const { client, batches } = given();
  await client.send(new PutCommand({ TableName, Item: { ...keyOf('put'), secret: 'no key' } }));
  await client.send(new GetCommand({ TableName, Key: keyOf('read') }));
  await client.send(new UpdateCommand({ TableName, Key: keyOf('update') }));
  await client.send(new DeleteCommand({ TableName, Key: keyOf('delete') }));
  const steps = [
    { Put: { TableName, Item: keyOf('step-put') } },
    { Update: { TableName, Key: keyOf('step-update'), UpdateExpression: 'SET a = b' } },
    { Delete: { TableName, Key: keyOf('step-delete') } },
    { ConditionCheck: { TableName, Key: keyOf('step-check'), ConditionExpression: 'a = b' } },
  ];
  await client.send(new TransactWriteCommand({ TransactItems: steps }));
  const many = [{ DeleteRequest: { Key: keyOf('many-1') } }, { PutRequest: { Item: keyOf('many-2') } }];
  await client.send(new BatchWriteCommand({ RequestItems: { [TableName]: many } }));
  await eventually('all are told', 5_000, async () => batches.flat().length >= 8);
  expect(batches.flat()).toEqual([
    'INSERT put',
    'MODIFY update',
    'REMOVE delete',
    'INSERT step-put',
    'MODIFY step-update',
    'REMOVE step-delete',
    'REMOVE many-1',
    'INSERT many-2',
  ]);
});

test('a write that the table has refused is not told, and one whose answer was lost is', async () => {
  const errors: Error[] = [
    new ConditionalCheckFailedException(METADATA),
    new TransactionCanceledException(METADATA),
    new InternalServerError(METADATA),
    new Error('socket hang up'),
  ];
  const { client, batches } = given({
    answer: async () => {
      throw errors.shift() ?? new Error('one more');
    },
  });
  for (const pk of ['condition', 'transaction', 'server', 'network'])
    await expect(client.send(new PutCommand({ TableName, Item: keyOf(pk) }))).rejects.toThrow();
  await eventually('two are told', 5_000, async () => batches.flat().length >= 2);
  expect(batches.flat()).toEqual(['INSERT server', 'INSERT network']);
});

test('what comes within the window is one batch, and more than a batch holds are several', async () => {
  const { client, batches } = given({ changes: { batchSize: 2, windowMs: 50 } });
  const put = (pk: string) => client.send(new PutCommand({ TableName, Item: keyOf(pk) }));
  await Promise.all(['1', '2', '3'].map(put));
  await eventually('all are told', 5_000, async () => batches.flat().length >= 3);
  await put('4');
  await eventually('the fourth is told', 5_000, async () => batches.flat().length >= 4);
  expect(batches).toEqual([['INSERT 1', 'INSERT 2'], ['INSERT 3'], ['INSERT 4']]);
});

test('a change that was reported as failed is delivered again, and nothing after the stop', async () => {
  const { client, batches, stopped } = given({
    deliver: (records) =>
      batches.length > 1
        ? null
        : { batchItemFailures: [{ itemIdentifier: records[1]?.dynamodb.SequenceNumber ?? '' }] },
  });
  const put = (pk: string) => client.send(new PutCommand({ TableName, Item: keyOf(pk) }));
  await Promise.all(['1', '2'].map(put));
  await eventually('it is told again', 5_000, async () => batches.length > 1);
  expect(batches).toEqual([['INSERT 1', 'INSERT 2'], ['INSERT 2']]);
  const late = put('3');
  await stopped.stop();
  await late;
  await put('4');
  expect(batches).toHaveLength(2);
});
