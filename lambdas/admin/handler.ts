import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { createSecretReader } from '#core/adapters/parameter-store/secret-reader.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createLog } from '#core/telemetry.ts';
import { AdminEnv } from './env.ts';
import { createAdminRoutes } from './routes.ts';

const env = AdminEnv.parse(process.env);
const log = createLog({ service: 'admin' });
const clock = createSystemClock();
const secrets = new SSMClient({});
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});

export const handler = createSurface<'admin'>(
  {
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
    identity: chooseIdentity(env, clock),
    readAdminKey: createSecretReader(secrets, env.ADMIN_KEY_SECRET_ID, clock),
    container: { readSecret: createSecretReader(secrets, env.CONTAINER_SECRET_ID, clock), clock },
  },
  createAdminRoutes({ store, leases: store }),
);
