import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createForgeAccountOpener } from '#core/adapters/forge-http/account.ts';
import { readOutboundPolicy } from '#core/adapters/http-guard/env-policy.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { compileOutboundPolicy } from '#core/adapters/http-guard/outbound-url.ts';
import { checkOutboundTarget } from '#core/adapters/http-guard/resolve.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { openVault } from '#core/adapters/kms-vault/open-vault.ts';
import { readForgeAuthority } from '#core/adapters/parameter-store/forge-authority.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createSignInNotes } from '#core/http/note-sign-in.ts';
import { createLog } from '#core/telemetry.ts';
import { ConnectionsEnv } from './env.ts';
import { createConnectionRoutes, switchedOffRoutes } from './routes.ts';

const env = ConnectionsEnv.parse(process.env);
const log = createLog({ service: 'connections' });
const clock = createSystemClock();
const authority = await readForgeAuthority(env.FORGE_CA_PARAMETER);
const policy = readOutboundPolicy({ ...env, FORGE_CA_PEM: authority });
const rules = compileOutboundPolicy(policy);
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});

export const handler = createSurface<'connections'>(
  {
    identity: chooseIdentity(env, clock),
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
    noteSignIn: createSignInNotes({ store, log }),
    switchedOff: switchedOffRoutes(env.LEGACY_FORGE_REPOS),
  },
  createConnectionRoutes({
    store,
    clock,
    log,
    ids: createUuidIds(),
    planLimits: env.PLAN_LIMITS,
    vault: openVault(env, clock),
    openAccount: createForgeAccountOpener({ send: createGuardedHttp(policy).send, clock }),
    checkTarget: (url) => checkOutboundTarget(url, rules),
  }),
);
