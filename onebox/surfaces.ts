import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { DynamoStore } from '#core/adapters/dynamo/store.ts';
import { createForgeAccountOpener } from '#core/adapters/forge-http/account.ts';
import { createForgeAdmin } from '#core/adapters/forge-http/admin.ts';
import { createBackportForge } from '#core/adapters/forge-http/backport.ts';
import { createForgeLog } from '#core/adapters/forge-http/gate/run-log.ts';
import { createForgePersonOpener } from '#core/adapters/forge-http/person.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { compileOutboundPolicy, type OutboundPolicy } from '#core/adapters/http-guard/outbound-url.ts';
import { checkOutboundTarget } from '#core/adapters/http-guard/resolve.ts';
import { makeWebhookKey } from '#core/adapters/system/webhook-key.ts';
import type { HttpSurface } from '#core/contracts/routes/route-spec.ts';
import { NO_PLANS } from '#core/domain/tenants/billing.ts';
import { createSurface } from '#core/http/api-surface.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { createSignInNotes } from '#core/http/note-sign-in.ts';
import type { HttpResponse } from '#core/http/respond.ts';
import type { IdentityPort } from '#core/ports/identity.ts';
import type { SecretBox } from '#core/ports/secret-box.ts';
import type { Signer } from '#core/ports/signer.ts';
import type { Clock, Ids, Log, Vault, WakeQueue } from '#core/ports/system.ts';
import type { TokenStore } from '#core/ports/token-store.ts';
import { createForgeOpener } from '#core/services/connections/open-forge.ts';
import { createTokenReader } from '#core/services/tenants/api-tokens.ts';
import { createRefusedDeliveries } from '#core/services/webhooks/refused-deliveries.ts';
import { createAdviceRoutes } from '../engine-container/src/replay/advice-routes.ts';
import { openBackportPlanner } from '../engine-container/src/staging/plan-backport.ts';
import { createAdminRoutes } from '../lambdas/admin/routes.ts';
import { createApiRoutes } from '../lambdas/api/routes.ts';
import { createBillingRoutes } from '../lambdas/billing/routes.ts';
import { createConnectionRoutes, switchedOffRoutes } from '../lambdas/connections/routes.ts';
import { createContainerHealth } from '../lambdas/container-health/routes.ts';
import { createEvidenceRoutes } from '../lambdas/evidence/routes.ts';
import { createForgeOpsRoutes } from '../lambdas/forge-ops/routes.ts';
import { createPublicRoutes } from '../lambdas/public/routes.ts';
import { createPaymentsWebhook } from '../lambdas/webhooks/payments-route.ts';
import { createForgeWebhook } from '../lambdas/webhooks/routes.ts';

/** The parts that all surfaces of one process share. */
export interface Shared {
  readonly store: DynamoStore;
  readonly tokens: TokenStore;
  readonly identity: IdentityPort;
  readonly vault: Vault;
  readonly secrets: SecretBox;
  readonly signer: Signer;
  readonly queue: WakeQueue;
  readonly send: HttpSend;
  readonly policy: OutboundPolicy;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly publicUrl: string;
  readonly queueName: string;
}

export type Answerer = (event: APIGatewayProxyEventV2, context: Context) => Promise<HttpResponse>;

/** The parts of a worker, which knows no caller and signs nothing. */
export type WorkerShared = Omit<Shared, 'tokens' | 'identity' | 'signer'>;

/** The parts that set repositories up, and put back what drifted. */
export function setUpParts({ store, secrets, vault, queue, send, clock, ids, log, ...rest }: WorkerShared) {
  const openForge = createForgeOpener({
    store,
    vault,
    connect: ({ instanceUrl, slug }, token) =>
      createForgeAdmin(createForgeTransport({ instanceUrl, slug, token, send, clock })),
  });
  const openBackports = createForgeOpener({
    store,
    vault,
    connect: ({ instanceUrl, slug }, token) =>
      createBackportForge(createForgeTransport({ instanceUrl, slug, token, send, clock })),
  });
  const webhookUrl = `${rest.publicUrl}/api/v1/webhooks/forge`;
  return {
    store,
    secrets,
    vault,
    queue,
    clock,
    ids,
    log,
    openForge,
    openBackports,
    openPlanner: openBackportPlanner,
    webhookUrl,
    queueName: rest.queueName,
  };
}

/** Every HTTP function of the service, composed for one process: no plans are sold here, and no key administers. */
export function createSurfaces(shared: Shared): Readonly<Record<HttpSurface, Answerer>> {
  const { store, tokens, identity, vault, secrets, queue, send, clock, ids, log, publicUrl, queueName } =
    shared;
  const surface = {
    identity,
    log,
    rates: store,
    noteSignIn: createSignInNotes({ store, log }),
    readApiToken: createTokenReader({ store: tokens, clock, log }),
  };
  const common = { store, leases: store, clock, log, ids, queue, planLimits: NO_PLANS };
  const openAccount = createForgeAccountOpener({ send, clock });
  const rules = compileOutboundPolicy(shared.policy);
  return {
    api: createSurface<'api'>(surface, createApiRoutes({ ...common, tokens, identity, queueName })),
    evidence: createSurface<'evidence'>(surface, createEvidenceRoutes({ store, signer: shared.signer })),
    advice: createSurface<'advice'>(surface, createAdviceRoutes({ store, clock })),
    connections: createSurface<'connections'>(
      { ...surface, switchedOff: switchedOffRoutes(false) },
      createConnectionRoutes({
        ...common,
        vault,
        openAccount,
        checkTarget: (url) => checkOutboundTarget(url, rules),
      }),
    ),
    'forge-ops': createSurface<'forge-ops'>(
      surface,
      createForgeOpsRoutes({
        ...common,
        ...setUpParts(shared),
        openAccount,
        makeWebhookKey,
        // Notices leave by the same door as calls of the forge.
        checkNoticeTarget: (url) => checkOutboundTarget(url, rules),
        openPerson: createForgePersonOpener({ send, clock }),
        openLog: createForgeOpener({
          store,
          vault,
          connect: ({ instanceUrl, slug }, token) =>
            createForgeLog(createForgeTransport({ instanceUrl, slug, token, send, clock }), token),
        }),
      }),
    ),
    admin: createSurface<'admin'>(surface, createAdminRoutes({ store, leases: store })),
    billing: createSurface<'billing'>(
      surface,
      createBillingRoutes({
        ...common,
        prices: null,
        openPayments: async () => null,
        billingPageUrl: `${publicUrl}/billing`,
      }),
    ),
    'webhooks-payments': middy(
      createPaymentsWebhook({
        store,
        clock,
        log,
        prices: null,
        readSigningSecret: null,
        openReader: async () => null,
      }),
    ).use(answerWithEnvelope(log)),
    public: createSurface<'public'>(
      surface,
      createPublicRoutes({ store, mailboxes: store, identity, clock, log, analyticsKey: '' }),
    ),
    'webhooks-forge': middy(
      createForgeWebhook({
        store,
        leases: store,
        rates: store,
        secrets,
        queue,
        refused: createRefusedDeliveries(() => clock.now()),
        clock,
        queueName,
        planLimits: NO_PLANS,
      }),
    ).use(answerWithEnvelope(log)),
    'container-health': middy(
      // The engine is this very process.
      createContainerHealth({ ...surface, isHealthy: async () => true, clock }),
    ).use(answerWithEnvelope(log)),
  };
}
