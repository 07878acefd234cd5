import { setTimeout as wait } from 'node:timers/promises';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { Json, LogSink, Stoppable } from '../../../ports/invocable.ts';
import { type Delivery, deliver } from './deliver-changes.ts';

export interface StreamSource extends Delivery {
  readonly tableName: string;
  readonly streamArn: string;
  /** Region as records name it. */
  readonly region: string;
  /** Whether a record is wanted. */
  readonly filter: (record: Json) => boolean;
}

/** Time between two reads of a shard, in ms, as Lambda has it. */
const POLL_MS = 250;
const RETRY_MS = 200;
/**
 * Longest wait after a failed read, in ms. A damaged table stays so for hours, and each failed read is a line of the
 * log.
 */
const READ_RETRY_MS_MAX = 30_000;

/**
 * Delivers a table's changes to a function, from now on: in order, filtered, gathered for the window, tried again as often
 * as the mapping says. The emulator's stream has one shard, so there is one delivery at a time. The position is kept in
 * memory: changes made while the service is down are not delivered, as with a mapping that is created anew.
 */
export async function startStreamSource(
  client: DynamoDBStreamsClient,
  source: StreamSource,
  log: LogSink,
): Promise<Stoppable> {
  const stopping = new AbortController();
  // Taken before anything can change: a write right after the start of a service must not lie before it.
  const iterators = await openShards(client, source.tableName);
  const loops = iterators.map((iterator) => readShard(client, source, iterator, log, stopping.signal));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function openShards(client: DynamoDBStreamsClient, tableName: string): Promise<readonly string[]> {
  const { Streams: streams = [] } = await client.send(new ListStreamsCommand({ TableName: tableName }));
  const StreamArn = streams.at(-1)?.StreamArn;
  if (StreamArn === undefined) throw new Error(`${tableName} has no stream`);
  const { StreamDescription: stream } = await client.send(new DescribeStreamCommand({ StreamArn }));
  return Promise.all(
    (stream?.Shards ?? []).map(async ({ ShardId }) => {
      const { ShardIterator } = await client.send(
        new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'LATEST' }),
      );
      if (ShardIterator === undefined) throw new Error(`${tableName}: a shard has no iterator`);
      return ShardIterator;
    }),
  );
}

async function readShard(
  client: DynamoDBStreamsClient,
  source: StreamSource,
  start: string,
  log: LogSink,
  signal: AbortSignal,
): Promise<void> {
  let iterator: string | undefined = start;
  const gathered: Json[] = [];
  let since: number | null = null;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const answer: GetRecordsCommandOutput = await client.send(
        new GetRecordsCommand({ ShardIterator: iterator }),
        { abortSignal: signal },
      );
      iterator = answer.NextShardIterator ?? iterator;
      failures = 0;
      const wanted = (answer.Records ?? []).map((each) => toRecord(each, source)).filter(source.filter);
      gathered.push(...wanted);
      if (gathered.length > 0) since ??= performance.now();
      while (gathered.length >= source.batchSize || isOver(since, source.windowMs)) {
        await deliver(source, gathered.splice(0, source.batchSize), 0, log, signal);
        since = gathered.length > 0 ? performance.now() - source.windowMs : null;
      }
      await wait(POLL_MS, undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      log('stream', `${error instanceof Error ? error.name : 'error'} while reading ${source.tableName}\n`);
      await wait(readRetryMs(failures), undefined, { signal }).catch(() => undefined);
      failures += 1;
    }
  }
}

/** Wait after so many failed reads in a row, in ms: twice as long each time, up to half a minute. */
export function readRetryMs(failures: number): number {
  return Math.min(READ_RETRY_MS_MAX, RETRY_MS * 2 ** failures);
}

function isOver(since: number | null, windowMs: number): boolean {
  return since !== null && performance.now() - since >= windowMs;
}

/** A record as a Lambda function gets it, with times in epoch seconds. */
function toRecord(record: StreamRecord, source: StreamSource): Json {
  const change = record.dynamodb;
  return {
    eventID: record.eventID ?? '',
    eventName: record.eventName ?? '',
    eventVersion: record.eventVersion ?? '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: source.region,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(
        (change?.ApproximateCreationDateTime ?? new Date()).getTime() / 1000,
      ),
      Keys: JSON.parse(JSON.stringify(change?.Keys ?? {})) as Json,
      SequenceNumber: change?.SequenceNumber ?? '',
      SizeBytes: change?.SizeBytes ?? 0,
      StreamViewType: change?.StreamViewType ?? 'KEYS_ONLY',
    },
    eventSourceARN: source.streamArn,
  };
}
