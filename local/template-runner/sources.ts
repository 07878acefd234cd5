import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { sequenceOf } from '../../core/adapters/dynamo/table/deliver-changes.ts';
import { startStreamSource } from '../../core/adapters/dynamo/table/stream-reader.ts';
import { isObject, type Json, type LogSink, type Stoppable } from '../../core/ports/invocable.ts';
import { type FunctionPool, functionOf } from './function-pool.ts';
import { startQueueSource } from './queue-sources.ts';
import { LOCAL_REGION, type Resolver } from './resolver.ts';
import { readStreamFilter } from './stream-filter.ts';
import type { Assembly } from './synthesize.ts';
import { asList, asNumber, fail, type Resource } from './template.ts';

export interface SourceOptions {
  readonly assembly: Pick<Assembly, 'template'>;
  readonly sqs: SQSClient;
  readonly streams: DynamoDBStreamsClient;
  readonly log: LogSink;
}

/** Pollers of one queue on this machine, whatever the mapping allows in the cloud. */
const POLLERS_MAX = 4;
const POLLERS_DEFAULT = 2;
/** The number that the service takes for "no limit". */
const RETRIES_DEFAULT = 10_000;
const AGE_DEFAULT_S = 86_400;

/** Every event source mapping of a template, running. */
export async function startSources(
  options: SourceOptions,
  resolver: Resolver,
  functions: ReadonlyMap<string, FunctionPool>,
): Promise<readonly Stoppable[]> {
  const { template } = options.assembly;
  return Promise.all(
    template.ofType('AWS::Lambda::EventSourceMapping').map((mapping) => {
      const source = template.target(mapping.properties.EventSourceArn, mapping.id);
      const target = functionOf(template, functions, mapping.properties.FunctionName, mapping.id);
      switch (source.type) {
        case 'AWS::SQS::Queue':
          return startQueue(options, resolver, mapping, source, target);
        case 'AWS::DynamoDB::GlobalTable':
        case 'AWS::DynamoDB::Table':
          return startStream(options, resolver, mapping, source, target);
        default:
          return fail(mapping.id, `${source.type} is not a source that runs here`);
      }
    }),
  );
}

function startQueue(
  options: SourceOptions,
  resolver: Resolver,
  { id, properties }: Resource,
  queue: Resource,
  target: FunctionPool,
): Stoppable {
  const scaling = isObject(properties.ScalingConfig)
    ? properties.ScalingConfig.MaximumConcurrency
    : undefined;
  const wanted = scaling === undefined ? POLLERS_DEFAULT : asNumber(scaling, id);
  return startQueueSource(
    options.sqs,
    {
      queueUrl: resolver.text({ Ref: queue.id }, id),
      queueArn: resolver.text({ 'Fn::GetAtt': [queue.id, 'Arn'] }, id),
      target,
      batchSize: asNumber(properties.BatchSize ?? 10, id),
      reportsFailures: reportsFailures(properties.FunctionResponseTypes, id),
      concurrency: Math.min(wanted, POLLERS_MAX),
    },
    options.log,
  );
}

function startStream(
  options: SourceOptions,
  resolver: Resolver,
  { id, properties }: Resource,
  table: Resource,
  target: FunctionPool,
): Promise<Stoppable> {
  const streamArn = resolver.text(properties.EventSourceArn, id);
  return startStreamSource(
    options.streams,
    {
      tableName: resolver.text({ Ref: table.id }, id),
      streamArn,
      region: LOCAL_REGION,
      target,
      filter: readStreamFilter(properties.FilterCriteria, id),
      batchSize: asNumber(properties.BatchSize ?? 100, id),
      windowMs: asNumber(properties.MaximumBatchingWindowInSeconds ?? 0, id) * 1000,
      retries: asNumber(properties.MaximumRetryAttempts ?? RETRIES_DEFAULT, id),
      maxAgeMs: asNumber(properties.MaximumRecordAgeInSeconds ?? AGE_DEFAULT_S, id) * 1000,
      reportsFailures: reportsFailures(properties.FunctionResponseTypes, id),
      bisects: properties.BisectBatchOnFunctionError === true,
      giveUp: tellDeadLetters(options, resolver, id, properties.DestinationConfig, streamArn),
    },
    options.log,
  );
}

function reportsFailures(types: Json | undefined, where: string): boolean {
  return asList(types ?? [], where).includes('ReportBatchItemFailures');
}

/** Only where the batch lies in the stream is told, not what is in it. */
function tellDeadLetters(
  options: SourceOptions,
  resolver: Resolver,
  where: string,
  config: Json | undefined,
  streamArn: string,
): (batch: readonly Json[]) => Promise<void> {
  const onFailure = isObject(config) && isObject(config.OnFailure) ? config.OnFailure.Destination : undefined;
  if (onFailure === undefined) return async () => options.log('stream', `a batch was given up: ${where}\n`);
  const queueUrl = resolver.text({ Ref: options.assembly.template.target(onFailure, where).id }, where);
  return async (batch) => {
    const info = {
      shardId: 'shardId-local',
      startSequenceNumber: sequenceOf(batch[0] ?? null),
      endSequenceNumber: sequenceOf(batch.at(-1) ?? null),
      batchSize: batch.length,
      streamArn,
    };
    await options.sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify({ version: '1.0', DDBStreamBatchInfo: info }),
      }),
    );
  };
}
