import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createSqsWakeSender } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { glanceOf, parseWakeMessage } from '#core/contracts/internal/wake-message.ts';
import { consumeBatch } from '#core/http/queue-batch.ts';
import { forwardDelayedWake } from '#core/services/wakes/send-wakes.ts';
import { createLog } from '#core/telemetry.ts';
import { WakeForwardEnv } from './env.ts';

const env = WakeForwardEnv.parse(process.env);
const log = createLog({ service: 'wake-forward' });
const clock = createSystemClock();
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
const queue = createSqsWakeSender({ client: new SQSClient({}), wakeQueueUrl: env.WAKE_QUEUE_URL });

async function forward(record: SQSRecord): Promise<void> {
  const wake = parseWakeMessage(record.body);
  if (wake === null) {
    log.warn('a message that is no wake was dropped', { message_id: record.messageId });
    return;
  }
  const glance = glanceOf(wake);
  if (glance !== null) {
    // The worker reads whether a look has come since.
    await queue.sendGlance(glance);
    return;
  }
  const result = await forwardDelayedWake({ store, queue, clock }, wake);
  log.info('delayed wake', { repo_id: wake.repoId, result });
}

function run(event: SQSEvent): Promise<SQSBatchResponse> {
  return consumeBatch(event, log, forward);
}

export const handler = middy(run);
