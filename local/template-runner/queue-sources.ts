import { setTimeout as wait } from 'node:timers/promises';
import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Stoppable } from '../../core/ports/invocable.ts';
import { isObject, type Json, type LogSink } from '../../core/ports/invocable.ts';
import type { FunctionPool } from './function-pool.ts';
import { LOCAL_REGION } from './resolver.ts';

export interface QueueSource {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly target: FunctionPool;
  readonly batchSize: number;
  readonly reportsFailures: boolean;
  readonly concurrency: number;
}

const POLL_WAIT_SECONDS = 20;
/** After a queue that did not answer. */
const RETRY_MS = 500;

/**
 * Delivers a queue to a function: what the function reports as failed, or all of it when it throws, stays in the queue
 * until its visibility time-out ends; the rest is deleted.
 */
export function startQueueSource(client: SQSClient, source: QueueSource, log: LogSink): Stoppable {
  const stopping = new AbortController();
  const loops = Array.from({ length: source.concurrency }, () => poll(client, source, log, stopping.signal));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function poll(
  client: SQSClient,
  source: QueueSource,
  log: LogSink,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { Messages: messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: source.queueUrl,
          MaxNumberOfMessages: source.batchSize,
          WaitTimeSeconds: POLL_WAIT_SECONDS,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        }),
        { abortSignal: signal },
      );
      if (messages.length > 0) await deliver(client, source, messages, log);
    } catch (error) {
      if (signal.aborted) return;
      log('queue', `${error instanceof Error ? error.name : 'error'} while polling ${source.queueArn}\n`);
      await wait(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function deliver(
  client: SQSClient,
  source: QueueSource,
  messages: readonly Message[],
  log: LogSink,
): Promise<void> {
  let answer: Json;
  try {
    answer = await source.target.invoke({ Records: messages.map((each) => toRecord(each, source.queueArn)) });
  } catch (error) {
    log('queue', `${error instanceof Error ? error.message : 'error'}\n`);
    return;
  }
  const failed = source.reportsFailures ? failedIds(answer) : new Set<string>();
  for (const message of messages) {
    if (failed.has(message.MessageId ?? '')) continue;
    await client.send(
      new DeleteMessageCommand({ QueueUrl: source.queueUrl, ReceiptHandle: message.ReceiptHandle }),
    );
  }
}

function failedIds(answer: Json): ReadonlySet<string> {
  const list = isObject(answer) ? answer.batchItemFailures : undefined;
  const items = Array.isArray(list) ? list : [];
  return new Set(items.flatMap((item) => (isObject(item) ? [String(item.itemIdentifier)] : [])));
}

function toRecord(message: Message, queueArn: string): Json {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: { ...message.Attributes },
    messageAttributes: {},
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: LOCAL_REGION,
  };
}
