import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createSqsWakeQueue } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { readRawBody } from '#core/http/lambda-http.ts';
import { readHeader } from '#core/http/read-header.ts';
import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import { acceptForgeWebhook, type WebhookDeps } from '#core/services/accept-forge-webhook.ts';
import { createLog } from '#core/telemetry.ts';
import { ForgeWebhookEnv } from './env.ts';

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
  queue: createSqsWakeQueue({
    client: new SQSClient({}),
    wakeQueueUrl: env.WAKE_QUEUE_URL,
    delayedWakeQueueUrl: env.DELAYED_WAKE_QUEUE_URL,
  }),
  clock,
};

async function takeDelivery(event: APIGatewayProxyEventV2): Promise<HttpResponse> {
  const { headers } = event;
  const outcome = await acceptForgeWebhook(deps, {
    body: readRawBody(event),
    signature: readHeader(headers, 'x-hub-signature-256'),
    eventType: readHeader(headers, 'x-forgejo-event', 'x-gitea-event', 'x-github-event', 'x-gogs-event'),
    deliveryId: readHeader(headers, 'x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery'),
    hookId: event.queryStringParameters?.r,
  });
  return respondJson(200, { outcome });
}

export const handler = middy(takeDelivery).use(answerWithEnvelope(log));
