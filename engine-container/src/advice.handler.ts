import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { SurfaceEnv } from '#core/contracts/internal/env.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createTokenReader } from '#core/services/tenants/api-tokens.ts';
import { createLog } from '#core/telemetry.ts';
import { createAdviceRoutes } from './replay/advice-routes.ts';

const env = SurfaceEnv.parse(process.env);
const log = createLog({ service: 'advice' });
const clock = createSystemClock();
const table = {
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
};
const store = createDynamoStore(table);

/** Computes: it holds no right but to read rows. */
export const handler = createSurface<'advice'>(
  {
    identity: chooseIdentity(env, clock),
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
    readApiToken: createTokenReader({ store: createTokenStore(table), clock, log }),
  },
  createAdviceRoutes({ store, clock }),
);
