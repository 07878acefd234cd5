import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { createSqsWakeSender } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createSignInNotes } from '#core/http/note-sign-in.ts';
import { createTokenReader } from '#core/services/tenants/api-tokens.ts';
import { createLog } from '#core/telemetry.ts';
import { ApiEnv } from './env.ts';
import { createApiRoutes } from './routes.ts';

const env = ApiEnv.parse(process.env);
const log = createLog({ service: 'api' });
const clock = createSystemClock();
const identity = chooseIdentity(env, clock);
const table = {
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
};
const store = createDynamoStore(table);
const tokens = createTokenStore(table);

export const handler = createSurface<'api'>(
  {
    identity,
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
    noteSignIn: createSignInNotes({ store, log }),
    readApiToken: createTokenReader({ store: tokens, clock, log }),
  },
  createApiRoutes({
    store,
    tokens,
    leases: store,
    identity,
    clock,
    log,
    ids: createUuidIds(),
    queue: createSqsWakeSender({ client: new SQSClient({}), wakeQueueUrl: env.WAKE_QUEUE_URL }),
    queueName: env.QUEUE_NAME,
    planLimits: env.PLAN_LIMITS,
  }),
);
