import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { SurfaceEnv } from '../core/contracts/internal/env.ts';
import type { HttpSurface, RouteAuth } from '../core/contracts/routes/route-spec.ts';
import { ROUTES } from '../core/contracts/routes/routes.ts';
import { PAID_FOR_NOTHING } from '../core/domain/tenants/subscription.ts';
import { AdminEnv } from '../lambdas/admin/env.ts';
import { ApiEnv } from '../lambdas/api/env.ts';
import { BillingEnv } from '../lambdas/billing/env.ts';
import { ConnectionsEnv } from '../lambdas/connections/env.ts';
import { ContainerHealthEnv } from '../lambdas/container-health/env.ts';
import { EvidenceEnv } from '../lambdas/evidence/env.ts';
import { ForgeOpsEnv } from '../lambdas/forge-ops/env.ts';
import { PublicEnv } from '../lambdas/public/env.ts';
import { ForgeWebhookEnv, PaymentsWebhookEnv } from '../lambdas/webhooks/env.ts';
import type { AdminKey } from './constructs/admin-key.ts';
import type { CredentialKey } from './constructs/credential-key.ts';
import type { DataTable } from './constructs/data-table.ts';
import type { EngineNetwork } from './constructs/engine-network.ts';
import type { EngineService } from './constructs/engine-service.ts';
import type { EvidenceKey } from './constructs/evidence-key.ts';
import type { ForgeAuthority } from './constructs/forge-authority.ts';
import type { FunctionNetwork } from './constructs/function-network.ts';
import { type IdentityProvider, watchSignIn } from './constructs/identity-provider.ts';
import type { Monitoring } from './constructs/monitoring.ts';
import { Payments } from './constructs/payments.ts';
import {
  type FunctionDefaults,
  ServiceFunction,
  type ServiceFunctionProps,
} from './constructs/service-function.ts';
import type { StoredSecrets } from './constructs/stored-secrets.ts';
import type { WakeQueue } from './constructs/wake-queue.ts';
import type { StageConfig } from './stage-config.ts';

export interface HttpFunctionParts {
  readonly config: StageConfig;
  readonly table: DataTable;
  readonly identity: IdentityProvider;
  readonly credentialKey: CredentialKey;
  readonly network: EngineNetwork;
  readonly engine: EngineService;
  readonly queue: WakeQueue;
  readonly adminKey: AdminKey;
  /** Key that signs statements of landings; null: no statement is signed. */
  readonly evidenceKey: EvidenceKey | null;
  readonly secrets: StoredSecrets;
  readonly authority: ForgeAuthority;
  readonly publicUrl: string;
  /** Text that proves that a request came through the distribution; empty when something else stands in front. */
  readonly edgeStamp: string;
  /**
   * Stamp that each request must carry: `edgeStamp` where requests that did not come through the distribution are
   * refused, else empty.
   */
  readonly requiredStamp: string;
}

/** Time-out of a webhook, whose sender gives up after five seconds; the work is one look-up and one conditional write. */
const QUICK = Duration.seconds(10);
/** Time-out of one look at the payment provider, with a repeat, and the write of the answer. */
const LOOK_AT_PROVIDER = Duration.seconds(20);
/** Time-out below the gateway's 30 s; a manual reconcile and a probe of the gate use up nearly all of it. */
const AS_LONG_AS_THE_GATEWAY = Duration.seconds(29);

/** Memory at which a function has one whole processor. */
const ONE_PROCESSOR_MB = 1_769;

/** Tells a function which forges it may call, and lets it read the certificates of their authorities. */
export function mayReachForges(fn: ServiceFunction, config: StageConfig, authority: ForgeAuthority): void {
  fn.setEnv('FORGE_ALLOW_HOSTS', config.forgeAllowHosts);
  fn.setEnv('FORGE_DENY_HOSTS', config.ownHosts);
  authority.grantRead(fn);
}

/**
 * Network from which a function calls forges: that of the operator where private forges are named in it; else none
 * (undefined), because a function has IPv4 only outside of any VPC.
 */
export function wayToForges(network: EngineNetwork, config: StageConfig): FunctionNetwork | undefined {
  return config.network.own !== undefined && config.forgeAllowHosts !== '' ? network.forWorkers : undefined;
}

/** One function per set of rights (A118): the routes of the table are dealt out by what they may touch. */
export function createHttpFunctions(
  scope: Construct,
  defaults: FunctionDefaults,
  parts: HttpFunctionParts,
): Readonly<Record<HttpSurface, ServiceFunction>> {
  const { config, table, identity, credentialKey, network, engine, queue, publicUrl } = parts;
  const make = (
    id: string,
    props: Pick<ServiceFunctionProps, 'bundle' | 'env' | 'timeout' | 'network'> &
      Partial<Pick<ServiceFunctionProps, 'memoryMb' | 'leadsToItself'>>,
  ): ServiceFunction => {
    const made = new ServiceFunction(scope, id, { defaults, memoryMb: 256, ...props });
    made.setEnv('REQUIRED_STAMP', parts.requiredStamp);
    return made;
  };
  const limitRates = (fn: ServiceFunction): void => {
    fn.setEnv('RATE_FACTOR', config.rateFactor);
    fn.setEnv('EDGE_STAMP', parts.edgeStamp);
  };
  const makeSurface: typeof make = (id, props) => {
    const made = make(id, props);
    identity.grantVerify(made);
    limitRates(made);
    table.grant(made, props.bundle);
    return made;
  };
  const webhooks = make('WebhooksForge', { bundle: 'webhooks-forge', env: ForgeWebhookEnv, timeout: QUICK });
  table.grant(webhooks, 'webhooks-forge');
  queue.grantSend(webhooks);
  queue.grantSendDelayed(webhooks);
  webhooks.setEnv('EDGE_STAMP', parts.edgeStamp);
  webhooks.setEnv('QUEUE_NAME', config.serviceName);
  credentialKey.grantOpenText(webhooks, ['webhook-secret']);

  const payments = new Payments(scope, 'Payments', {
    apiUrl: config.paymentsApiUrl,
    prices: config.paymentsPrices,
    retain: config.retainData,
    secrets: parts.secrets,
  });
  const billing = makeSurface('Billing', {
    bundle: 'billing',
    env: BillingEnv,
    timeout: AS_LONG_AS_THE_GATEWAY,
  });
  payments.grantSell(billing);
  // A tenant that leaves has its queues wound down first.
  queue.grantSend(billing);
  billing.setEnv('BILLING_PAGE_URL', `${publicUrl}/billing`);
  const paymentEvents = make('WebhooksPayments', {
    bundle: 'webhooks-payments',
    env: PaymentsWebhookEnv,
    timeout: LOOK_AT_PROVIDER,
  });
  payments.grantFollow(paymentEvents);
  // Plans, whose customer is whose, which events were taken, and what tenants are to be told: nothing of repos' own.
  table.grant(paymentEvents, 'webhooks-payments');

  const publicFn = make('Public', { bundle: 'public', env: PublicEnv, timeout: QUICK });
  identity.grantVerify(publicFn);
  table.grant(publicFn, 'public');
  limitRates(publicFn);
  publicFn.setEnv('ANALYTICS_API_KEY', config.analyticsKey);

  const api = makeSurface('Api', { bundle: 'api', env: ApiEnv, timeout: AS_LONG_AS_THE_GATEWAY });
  queue.grantSend(api);
  api.setEnv('QUEUE_NAME', config.serviceName);

  const evidence = makeSurface('Evidence', {
    bundle: 'evidence',
    env: EvidenceEnv,
    timeout: AS_LONG_AS_THE_GATEWAY,
  });
  evidence.setEnv('EVIDENCE_KEY_ID', parts.evidenceKey?.key.keyArn ?? '');
  parts.evidenceKey?.grantSign(evidence);

  const advice = makeSurface('Advice', {
    bundle: 'advice',
    env: SurfaceEnv,
    timeout: AS_LONG_AS_THE_GATEWAY,
    memoryMb: ONE_PROCESSOR_MB,
  });

  const connections = makeSurface('Connections', {
    bundle: 'connections',
    env: ConnectionsEnv,
    timeout: AS_LONG_AS_THE_GATEWAY,
    network: wayToForges(network, config),
  });
  credentialKey.grantSeal(connections);
  // A new login is asked of the forge with the token that is stored.
  credentialKey.grantOpen(connections);
  mayReachForges(connections, config, parts.authority);
  connections.setEnv('LEGACY_FORGE_REPOS', config.legacyForgeRepos);

  const forgeOps = makeSurface('ForgeOps', {
    bundle: 'forge-ops',
    env: ForgeOpsEnv,
    timeout: AS_LONG_AS_THE_GATEWAY,
    network: wayToForges(network, config),
    // The worker asks it for repairs, and it sends the worker a wake.
    leadsToItself: true,
  });
  credentialKey.grantOpen(forgeOps);
  credentialKey.grantSealText(forgeOps, ['webhook-secret', 'chat-url']);
  queue.grantSend(forgeOps);
  mayReachForges(forgeOps, config, parts.authority);
  forgeOps.setEnv('QUEUE_NAME', config.serviceName);
  forgeOps.setEnv('WEBHOOK_URL', `${publicUrl}/api/v1/webhooks/forge`);

  const admin = makeSurface('Admin', { bundle: 'admin', env: AdminEnv, timeout: AS_LONG_AS_THE_GATEWAY });
  parts.adminKey.grantRead(admin);
  // The private health check takes the container's stamp as well (D-74).
  engine.grantStamp(admin);

  const containerHealth = make('ContainerHealth', {
    bundle: 'container-health',
    env: ContainerHealthEnv,
    timeout: QUICK,
    // The engine's one open door is for this group.
    network: network.forWorkers,
  });
  engine.grantProbe(containerHealth);
  engine.grantPower(containerHealth);
  table.grant(containerHealth, 'container-health');
  limitRates(containerHealth);
  network.nameServices(containerHealth, 'ECS');

  return {
    'webhooks-forge': webhooks,
    public: publicFn,
    api,
    evidence,
    advice,
    connections,
    'forge-ops': forgeOps,
    admin,
    'container-health': containerHealth,
    billing,
    'webhooks-payments': paymentEvents,
  };
}

/** Kinds of auth that verify a session with the identity provider. */
const ASKS_PROVIDER: ReadonlySet<RouteAuth> = new Set([
  'bearer',
  'me',
  'session',
  'admin',
  'operator',
  'socket',
]);

/** Lines of these functions that a person should look at. */
export function watchHttpFunctions(
  monitoring: Monitoring,
  surfaces: Readonly<Record<HttpSurface, ServiceFunction>>,
): void {
  const asking = new Set(ROUTES.filter(({ auth }) => ASKS_PROVIDER.has(auth)).map(({ surface }) => surface));
  for (const name of asking) {
    const { [name]: surface } = surfaces;
    watchSignIn(monitoring, surface);
  }
  const { logGroup } = surfaces.admin;
  monitoring.addLine(surfaces.admin, 'AdminKeyUsed', {
    logGroup,
    where: { message: 'the admin key was used' },
    threshold: 1,
    alarm: 'adminKey',
  });
  monitoring.addLine(surfaces.admin, 'OperatorsRefused', {
    logGroup,
    where: { message: 'an operator was refused' },
    threshold: 10,
    alarm: 'ticket',
  });
  const payments = surfaces['webhooks-payments'];
  monitoring.addLine(payments, 'PaidForNothing', {
    logGroup: payments.logGroup,
    where: { message: Object.values(PAID_FOR_NOTHING) },
    threshold: 1,
    alarm: 'ticket',
  });
}
