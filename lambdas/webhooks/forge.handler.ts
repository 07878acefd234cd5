import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createSqsWakeQueue } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import type { WebhookDeps } from '#core/services/webhooks/accept-forge-webhook.ts';
import { createRefusedDeliveries } from '#core/services/webhooks/refused-deliveries.ts';
import { createLog } from '#core/telemetry.ts';
import { ForgeWebhookEnv } from './env.ts';
import { createForgeWebhook } from './routes.ts';

const env = ForgeWebhookEnv.parse(process.env);
const log = createLog({ service: 'webhooks-forge' });
const clock = createSystemClock();
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
const deps: WebhookDeps = {
  store,
  leases: store,
  rates: store,
  secrets: createKmsSecretBox({ client: new KMSClient({}) }),
  queue: createSqsWakeQueue({
    client: new SQSClient({}),
    wakeQueueUrl: env.WAKE_QUEUE_URL,
    delayedWakeQueueUrl: env.DELAYED_WAKE_QUEUE_URL,
  }),
  refused: createRefusedDeliveries(() => clock.now()),
  clock,
  planLimits: env.PLAN_LIMITS,
  queueName: env.QUEUE_NAME,
};

export const handler = middy(createForgeWebhook(deps, env.EDGE_STAMP)).use(
  answerWithEnvelope(log, env.REQUIRED_STAMP),
);
