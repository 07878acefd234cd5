import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAccountStore } from '#core/adapters/dynamo/account-store.ts';
import { createBillingStore } from '#core/adapters/dynamo/billing-store.ts';
import { createDispatchStore } from '#core/adapters/dynamo/dispatch-store.ts';
import { createEnrollmentStore } from '#core/adapters/dynamo/enrollment-store.ts';
import { createLeaseStore } from '#core/adapters/dynamo/lease-store.ts';
import { createRateStore } from '#core/adapters/dynamo/rate-store.ts';
import { createRealtimeStore } from '#core/adapters/dynamo/realtime-store.ts';
import { Table } from '#core/adapters/dynamo/table/table.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { createSecretReader } from '#core/adapters/parameter-store/secret-reader.ts';
import { createPaymentsOpener } from '#core/adapters/payments-http/open-payments.ts';
import { createSqsWakeSender } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createSignInNotes } from '#core/http/note-sign-in.ts';
import { createLog } from '#core/telemetry.ts';
import { BillingEnv } from './env.ts';
import { createBillingRoutes } from './routes.ts';

const env = BillingEnv.parse(process.env);
const log = createLog({ service: 'billing' });
const clock = createSystemClock();
const table = new Table({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
// Of the store, only what is called here: the bundle has the provider's SDK as well.
const store = {
  ...createEnrollmentStore(table),
  ...createDispatchStore(table),
  ...createLeaseStore(table),
  ...createAccountStore(table),
  ...createBillingStore(table),
  ...createRateStore(table),
  ...createRealtimeStore(table),
};
const keySecretId = env.PAYMENTS_KEY_SECRET_ID;

export const handler = createSurface<'billing'>(
  {
    identity: chooseIdentity(env, clock),
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
    noteSignIn: createSignInNotes({ store, log }),
  },
  createBillingRoutes({
    store,
    leases: store,
    clock,
    log,
    ids: createUuidIds(),
    planLimits: env.PLAN_LIMITS,
    prices: env.PAYMENTS_PRICES,
    queue: createSqsWakeSender({ client: new SQSClient({}), wakeQueueUrl: env.WAKE_QUEUE_URL }),
    openPayments: createPaymentsOpener({
      apiUrl: env.PAYMENTS_API_URL,
      prices: env.PAYMENTS_PRICES,
      clock,
      readKey: keySecretId === '' ? null : createSecretReader(new SSMClient({}), keySecretId, clock),
    }),
    billingPageUrl: env.BILLING_PAGE_URL,
  }),
);
