import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createSqsWakeSender } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { wakeDueRepos } from '#core/services/wake.ts';
import { createLog } from '#core/telemetry.ts';
import { TickEnv } from './env.ts';

const env = TickEnv.parse(process.env);
const log = createLog({ service: 'tick' });
const clock = createSystemClock();
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
const queue = createSqsWakeSender({ client: new SQSClient({}), wakeQueueUrl: env.WAKE_QUEUE_URL });

async function tick(): Promise<void> {
  const result = await wakeDueRepos({ store, queue, clock, log });
  log.info('tick', { ...result });
  // Some repos failing is their trouble; all of them failing is ours, and the alarm should know.
  if (result.failed > 0 && result.woken === 0) throw new Error('no due repo could be woken');
}

export const handler = middy(tick);
