import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { openKmsSigner } from '#core/adapters/kms-signer/signer.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createTokenReader } from '#core/services/tenants/api-tokens.ts';
import { createLog } from '#core/telemetry.ts';
import { EvidenceEnv } from './env.ts';
import { createEvidenceRoutes } from './routes.ts';

const env = EvidenceEnv.parse(process.env);
const log = createLog({ service: 'evidence' });
const clock = createSystemClock();
const table = {
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
};
const store = createDynamoStore(table);

/** Signs, and writes no row that it could sign. */
export const handler = createSurface<'evidence'>(
  {
    identity: chooseIdentity(env, clock),
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
    readApiToken: createTokenReader({ store: createTokenStore(table), clock, log }),
  },
  createEvidenceRoutes({ store, signer: openKmsSigner(env.EVIDENCE_KEY_ID) }),
);
