import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import { createForgeAccountOpener } from '#core/adapters/forge-http/account.ts';
import { createForgeAdmin } from '#core/adapters/forge-http/admin.ts';
import { createBackportForge } from '#core/adapters/forge-http/backport.ts';
import { createForgeLog } from '#core/adapters/forge-http/gate/run-log.ts';
import { createForgePersonOpener } from '#core/adapters/forge-http/person.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import { readOutboundPolicy } from '#core/adapters/http-guard/env-policy.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { compileOutboundPolicy } from '#core/adapters/http-guard/outbound-url.ts';
import { checkOutboundTarget } from '#core/adapters/http-guard/resolve.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { openSecretBox, openVault } from '#core/adapters/kms-vault/open-vault.ts';
import { readForgeAuthority } from '#core/adapters/parameter-store/forge-authority.ts';
import { createSqsWakeSender } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { makeWebhookKey } from '#core/adapters/system/webhook-key.ts';
import { readBackportRequest, readRepairRequest } from '#core/contracts/internal/forge-ops-requests.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { createSignInNotes } from '#core/http/note-sign-in.ts';
import { createForgeOpener } from '#core/services/connections/open-forge.ts';
import { carryLandings } from '#core/services/pulls/backport.ts';
import { repairSetup } from '#core/services/set-up/repair-setup.ts';
import { createTokenReader } from '#core/services/tenants/api-tokens.ts';
import { createLog } from '#core/telemetry.ts';
import { openBackportPlanner } from '../../engine-container/src/staging/plan-backport.ts';
import { ForgeOpsEnv } from './env.ts';
import { createForgeOpsRoutes } from './routes.ts';

const env = ForgeOpsEnv.parse(process.env);
const log = createLog({ service: 'forge-ops' });
const clock = createSystemClock();
const authority = await readForgeAuthority(env.FORGE_CA_PARAMETER);
const policy = readOutboundPolicy({ ...env, FORGE_CA_PEM: authority });
const { send } = createGuardedHttp(policy);
// As `notify` sends: no private host is vouched for, and this service is none of them.
const noticeRules = compileOutboundPolicy({
  allowHosts: [],
  denyHosts: [
    ...(policy.denyHosts ?? []),
    ...(env.WEBHOOK_URL === '' ? [] : [new URL(env.WEBHOOK_URL).host]),
  ],
});
const table = {
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
};
const store = createDynamoStore(table);
const tokens = createTokenStore(table);
const vault = openVault(env, clock);

const deps = {
  store,
  leases: store,
  vault,
  secrets: openSecretBox(env),
  clock,
  log,
  ids: createUuidIds(),
  queue: createSqsWakeSender({ client: new SQSClient({}), wakeQueueUrl: env.WAKE_QUEUE_URL }),
  makeWebhookKey,
  checkNoticeTarget: (url: string) => checkOutboundTarget(url, noticeRules),
  openAccount: createForgeAccountOpener({ send, clock }),
  openPerson: createForgePersonOpener({ send, clock }),
  openForge: createForgeOpener({
    store,
    vault,
    connect: ({ instanceUrl, slug }, token) =>
      createForgeAdmin(createForgeTransport({ instanceUrl, slug, token, send, clock })),
  }),
  openLog: createForgeOpener({
    store,
    vault,
    connect: ({ instanceUrl, slug }, token) =>
      createForgeLog(createForgeTransport({ instanceUrl, slug, token, send, clock }), token),
  }),
  openBackports: createForgeOpener({
    store,
    vault,
    connect: ({ instanceUrl, slug }, token) =>
      createBackportForge(createForgeTransport({ instanceUrl, slug, token, send, clock })),
  }),
  openPlanner: openBackportPlanner,
  webhookUrl: env.WEBHOOK_URL,
  queueName: env.QUEUE_NAME,
  planLimits: env.PLAN_LIMITS,
};
const surface = createSurface<'forge-ops'>(
  {
    identity: chooseIdentity(env, clock),
    log,
    rates: store,
    rateFactor: env.RATE_FACTOR,
    edgeStamp: env.EDGE_STAMP,
    requiredStamp: env.REQUIRED_STAMP,
    noteSignIn: createSignInNotes({ store, log }),
    readApiToken: createTokenReader({ store: tokens, clock, log }),
  },
  createForgeOpsRoutes(deps),
);

/** Requests of people come through the gateway; the worker alone asks for a repair or for backports. */
export const handler = async (...request: Parameters<typeof surface>) => {
  const repoId = readRepairRequest(request[0]);
  if (repoId !== null) return repairSetup(deps, repoId);
  const landedIn = readBackportRequest(request[0]);
  return landedIn === null ? surface(...request) : carryLandings(deps, landedIn);
};
