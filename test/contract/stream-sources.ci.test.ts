import { DeleteItemCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { noticeKey } from '../../core/adapters/dynamo/rows/keys.ts';
import { createDynamoStore } from '../../core/adapters/dynamo/store.ts';
import { createTable } from '../../core/adapters/dynamo/table/create-table.ts';
import { sequenceOf } from '../../core/adapters/dynamo/table/deliver-changes.ts';
import { type StreamSource, startStreamSource } from '../../core/adapters/dynamo/table/stream-reader.ts';
import { NOTICE_KEPT_MS } from '../../core/domain/api-limits.ts';
import { InvocationError, type Json, type Stoppable } from '../../core/ports/invocable.ts';
import { startDynamo } from '../../local/emulators/dynamo.ts';
import { readStreamFilter } from '../../local/template-runner/stream-filter.ts';
import { eventually } from '../support/eventually.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

describe('filters of a mapping', () => {
  const filterOf = (...patterns: readonly unknown[]) =>
    readStreamFilter({ Filters: patterns.map((each) => ({ Pattern: JSON.stringify(each) })) }, 'mapping');
  const record = (eventName: string, pk: string): Json => ({
    eventName,
    dynamodb: { Keys: { pk: { S: pk } } },
  });
  const prefixes = (...each: readonly string[]) => ({
    dynamodb: { Keys: { pk: { S: each.map((prefix) => ({ prefix })) } } },
  });

  test.each([
    ['INSERT', 'T#1', true],
    ['INSERT', 'TB#1', true],
    ['MODIFY', 'T#1', false],
    ['INSERT', 'TA#1', false],
    ['INSERT', '', false],
  ])('%s of %s passes: %s', (eventName, pk, passes) => {
    const filter = filterOf({ eventName: ['INSERT'], ...prefixes('T#', 'TB#') });
    expect(filter(record(eventName, pk))).toBe(passes);
  });

  test('any of several patterns lets through; none at all lets all through', () => {
    const filter = filterOf(prefixes('A'), { eventName: ['REMOVE'] });
    expect([record('INSERT', 'A1'), record('REMOVE', 'B'), record('INSERT', 'B')].map(filter)).toEqual([
      true,
      true,
      false,
    ]);
    expect(readStreamFilter(undefined, 'mapping')(record('INSERT', 'B'))).toBe(true);
  });

  test('a rule that does not run here stops the start', () => {
    expect(() => filterOf({ eventName: [{ 'anything-but': ['REMOVE'] }] })).toThrow('anything-but');
    expect(() => filterOf('text')).toThrow('not an object');
  });
});

describe('a table’s stream', () => {
  let stop: () => Promise<void>;
  let dynamo: DynamoDBClient;
  let streams: DynamoDBStreamsClient;
  const running: Stoppable[] = [];
  const TableName = 'changes';

  beforeAll(async () => {
    const emulator = await startDynamo();
    const config = { endpoint: emulator.endpoint, ...LOCAL_AWS };
    dynamo = new DynamoDBClient(config);
    streams = new DynamoDBStreamsClient(config);
    await createTable(dynamo, TableName);
    stop = async () => {
      dynamo.destroy();
      streams.destroy();
      await emulator.stop();
    };
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  });
  afterAll(() => stop());

  const put = (pk: string) =>
    dynamo.send(new PutItemCommand({ TableName, Item: { pk: { S: pk }, sk: { S: 'A' } } }));
  const remove = (pk: string) =>
    dynamo.send(new DeleteItemCommand({ TableName, Key: { pk: { S: pk }, sk: { S: 'A' } } }));
  const keysOf = (records: readonly Json[]): string[] =>
    records.map((each) => JSON.parse(JSON.stringify(each)).dynamodb.Keys.pk.S);

  /** A source whose function answers by the keys it is given. */
  const start = async (
    mark: string,
    answer: (keys: readonly string[], records: readonly Json[]) => Json,
    changes: Partial<StreamSource> = {},
  ) => {
    const calls: string[][] = [];
    const given: string[][] = [];
    const events: Json[] = [];
    running.push(
      await startStreamSource(
        streams,
        {
          region: 'here',
          tableName: TableName,
          streamArn: 'arn:stream',
          batchSize: 100,
          windowMs: 0,
          retries: 2,
          maxAgeMs: 60_000,
          reportsFailures: true,
          bisects: true,
          filter: (record) => keysOf([record])[0]?.startsWith(mark) === true,
          target: {
            invoke: async (event) => {
              events.push(event);
              const records = (event as { Records: Json[] }).Records;
              calls.push(keysOf(records));
              return answer(keysOf(records), records);
            },
          },
          giveUp: async (batch) => {
            given.push(keysOf(batch));
          },
          ...changes,
        },
        () => undefined,
      ),
    );
    return { calls, given, events };
  };

  test('is delivered from now on, in order, in the service’s own shape', async () => {
    await put('a-before');
    const { calls, events } = await start('a-', () => null);
    await put('a-1');
    await put('a-2');
    await remove('a-1');
    await eventually('three changes', 5_000, async () => calls.flat().length === 3);
    expect(calls.flat()).toEqual(['a-1', 'a-2', 'a-1']);
    const records = events.flatMap((event) => (event as { Records: Json[] }).Records);
    expect(records.map((each) => (each as { eventName: string }).eventName)).toEqual([
      'INSERT',
      'INSERT',
      'REMOVE',
    ]);
    expect(records[0]).toMatchObject({
      eventSource: 'aws:dynamodb',
      eventSourceARN: 'arn:stream',
      dynamodb: {
        Keys: { pk: { S: 'a-1' }, sk: { S: 'A' } },
        StreamViewType: 'KEYS_ONLY',
        SequenceNumber: expect.stringMatching(/^\d+$/),
        ApproximateCreationDateTime: expect.any(Number),
      },
    });
  });

  test('tells of a request of a notice that replaces one that has ended as of a new row', async () => {
    const clock = new VirtualClock();
    const documents = DynamoDBDocumentClient.from(dynamo);
    const store = createDynamoStore({ client: documents, tableName: TableName, clock });
    const notice = { kind: 'invoice_failed', tenantId: 'n', subject: 'in_1', email: null } as const;
    const { pk } = noticeKey(notice.tenantId, notice.kind, notice.subject);
    const { events } = await start(pk, () => null);
    await store.requestNotice(notice);
    await clock.advance(NOTICE_KEPT_MS);
    expect(await store.requestNotice(notice)).toBe(true);
    const kinds = () =>
      events.flatMap((event) =>
        (event as { Records: { eventName: string }[] }).Records.map(({ eventName }) => eventName),
      );
    await eventually('three changes', 5_000, async () => kinds().length === 3);
    expect(kinds()).toEqual(['INSERT', 'REMOVE', 'INSERT']);
  });

  test('a window gathers; what others change is not gathered', async () => {
    const { calls } = await start('b-', () => null, { windowMs: 700 });
    for (const key of ['b-1', 'x-1', 'b-2', 'b-3']) await put(key);
    await eventually('a delivery', 5_000, async () => calls.length > 0);
    expect(calls).toEqual([['b-1', 'b-2', 'b-3']]);
  });

  test('a batch is no larger than asked for', async () => {
    const { calls } = await start('c-', () => null, { batchSize: 2, windowMs: 300 });
    for (let each = 1; each <= 5; each += 1) await put(`c-${each}`);
    await eventually('five changes', 5_000, async () => calls.flat().length === 5);
    expect(Math.max(...calls.map((each) => each.length))).toBe(2);
    expect(calls.flat()).toEqual(['c-1', 'c-2', 'c-3', 'c-4', 'c-5']);
  });

  test('from a reported failure on, all is delivered again; then the rest is given up', async () => {
    const { calls, given } = await start(
      'd-',
      (keys, records) => ({
        batchItemFailures: keys.includes('d-2')
          ? [{ itemIdentifier: sequenceOf(records[keys.indexOf('d-2')] ?? null) }]
          : [],
      }),
      { windowMs: 400 },
    );
    for (const key of ['d-1', 'd-2', 'd-3']) await put(key);
    await eventually('it is given up', 8_000, async () => given.length > 0);
    expect(calls[0]).toEqual(['d-1', 'd-2', 'd-3']);
    expect(calls[1]).toEqual(['d-2', 'd-3']);
    expect(given).toContainEqual(['d-2']);
    expect(calls.flat().filter((key) => key === 'd-1')).toHaveLength(1);
  });

  test('a function that throws: the batch is halved until the bad one stands alone', async () => {
    const { given, calls } = await start(
      'e-',
      (keys) => {
        if (keys.includes('e-3')) throw new InvocationError('f', 'Error', 'bad');
        return null;
      },
      { windowMs: 400, retries: 3 },
    );
    for (const key of ['e-1', 'e-2', 'e-3', 'e-4']) await put(key);
    await eventually('the bad one is given up', 8_000, async () => given.length > 0);
    expect(given).toEqual([['e-3']]);
    await eventually('the others are through', 5_000, async () =>
      calls.some((each) => each.join() === 'e-4'),
    );
  });

  test('a change that is too old is dropped', async () => {
    const { calls } = await start('f-', () => null, { maxAgeMs: -60_000 });
    const { calls: others } = await start('f-', () => null);
    await put('f-1');
    await eventually('the other source has it', 5_000, async () => others.length > 0);
    expect(calls).toEqual([]);
  });
});
