import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createLog } from '#core/telemetry.ts';
import { PublicEnv } from './env.ts';
import { createPublicRoutes } from './routes.ts';

const env = PublicEnv.parse(process.env);
const log = createLog({ service: 'public' });
const clock = createSystemClock();
const identity = chooseIdentity(env, clock);
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});

/** Also what no route matches: 404, and 405 for a known path. */
export const handler = createSurface<'public'>(
  {
    identity,
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
  },
  createPublicRoutes({ store, mailboxes: store, identity, clock, log, analyticsKey: env.ANALYTICS_API_KEY }),
);
