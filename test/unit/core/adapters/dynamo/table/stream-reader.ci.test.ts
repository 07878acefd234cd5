import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { readRetryMs, startStreamSource } from '#core/adapters/dynamo/table/stream-reader.ts';
import { eventually } from '../../../../../support/eventually.ts';

const SOURCE = {
  tableName: 'changes',
  streamArn: 'arn:stream',
  region: 'here',
  target: { invoke: async () => null },
  filter: () => true,
  batchSize: 1,
  windowMs: 0,
  retries: 0,
  maxAgeMs: 1,
  reportsFailures: false,
  bisects: false,
  giveUp: async () => {},
};

/** A stream with one shard, each read of which answers so. */
function givenStream(read: (at: number) => boolean): DynamoDBStreamsClient {
  let reads = 0;
  const send = async (command: unknown): Promise<object> => {
    if (command instanceof ListStreamsCommand) return { Streams: [{ StreamArn: 'arn' }] };
    if (command instanceof DescribeStreamCommand)
      return { StreamDescription: { Shards: [{ ShardId: 'one' }] } };
    if (command instanceof GetShardIteratorCommand) return { ShardIterator: 'here' };
    reads += 1;
    if (!read(reads)) throw new Error('malformed');
    return { Records: [], NextShardIterator: 'next' };
  };
  const client: Pick<DynamoDBStreamsClient, 'send'> = { send };
  return client as DynamoDBStreamsClient;
}

test('a stream that cannot be read is asked ever more seldom, with a line for each failure, and soon again after a success', async () => {
  const failedAt: number[] = [];
  const client = givenStream((read) => read === 5);
  const source = await startStreamSource(client, SOURCE, () => failedAt.push(performance.now()));
  await eventually('six failures', 20_000, async () => failedAt.length >= 6);
  await source.stop();
  const gaps = failedAt.slice(1).map((at, index) => at - (failedAt[index] ?? 0));
  const [first = 0, second = 0, third = 0, , afterSuccess = 0] = gaps;
  expect([first >= 199, second >= 399, third >= 799]).toEqual([true, true, true]);
  expect(afterSuccess).toBeLessThan(800);
  expect([0, 1, 7, 8, 5_000].map(readRetryMs)).toEqual([200, 400, 25_600, 30_000, 30_000]);
});
