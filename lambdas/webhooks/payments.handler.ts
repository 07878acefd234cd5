import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createSecretReader } from '#core/adapters/parameter-store/secret-reader.ts';
import { createReaderOpener } from '#core/adapters/payments-http/list-subscriptions.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { createLog } from '#core/telemetry.ts';
import { PaymentsWebhookEnv } from './env.ts';
import { createPaymentsWebhook } from './payments-route.ts';

const env = PaymentsWebhookEnv.parse(process.env);
const log = createLog({ service: 'webhooks-payments' });
const clock = createSystemClock();
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
const secrets = new SSMClient({});
const openSecret = (id: string) => (id === '' ? null : createSecretReader(secrets, id, clock));

export const handler = middy(
  createPaymentsWebhook({
    store,
    clock,
    log,
    prices: env.PAYMENTS_PRICES,
    readSigningSecret: openSecret(env.PAYMENTS_WEBHOOK_SECRET_ID),
    openReader: createReaderOpener({
      apiUrl: env.PAYMENTS_API_URL,
      clock,
      readKey: openSecret(env.PAYMENTS_READ_KEY_SECRET_ID),
    }),
  }),
).use(answerWithEnvelope(log, env.REQUIRED_STAMP));
