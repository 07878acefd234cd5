import { createHmac, randomUUID } from 'node:crypto';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { compileOutboundPolicy } from '#core/adapters/http-guard/outbound-url.ts';
import { checkOutboundTarget } from '#core/adapters/http-guard/resolve.ts';
import { makeWebhookKey } from '#core/adapters/system/webhook-key.ts';
import type { HttpSurface } from '#core/contracts/routes/route-spec.ts';
import { WORKERS_MAX } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { Connection, ManagedRepo, ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS, type PlanLimitsTable } from '#core/domain/tenants/billing.ts';
import type { PriceBook } from '#core/domain/tenants/subscription.ts';
import type { LeaseGrant } from '#core/domain/wakes/lease.ts';
import { createSurface, type SurfaceDeps } from '#core/http/api-surface.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { createSignInNotes } from '#core/http/note-sign-in.ts';
import type { HttpResponse } from '#core/http/respond.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeLog } from '#core/ports/forge-log.ts';
import type { ForgePerson, OpenForgePerson } from '#core/ports/forge-person.ts';
import type { OpenPayments, SubscriptionReader } from '#core/ports/payments.ts';
import type { Signer } from '#core/ports/signer.ts';
import type { EngineAnswer, ReconcileCommand } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import type { PaymentEventDeps } from '#core/services/billing/accept-payment-event.ts';
import { createForgeOpener } from '#core/services/connections/open-forge.ts';
import { createTokenReader } from '#core/services/tenants/api-tokens.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { createLog } from '#core/telemetry.ts';
import { createAdviceRoutes } from '../../engine-container/src/replay/advice-routes.ts';
import { createAdminRoutes } from '../../lambdas/admin/routes.ts';
import { createApiRoutes } from '../../lambdas/api/routes.ts';
import { createBillingRoutes } from '../../lambdas/billing/routes.ts';
import { createConnectionRoutes, switchedOffRoutes } from '../../lambdas/connections/routes.ts';
import { createContainerHealth } from '../../lambdas/container-health/routes.ts';
import { createEvidenceRoutes } from '../../lambdas/evidence/routes.ts';
import { createForgeOpsRoutes } from '../../lambdas/forge-ops/routes.ts';
import { createPublicRoutes } from '../../lambdas/public/routes.ts';
import { createPaymentsWebhook } from '../../lambdas/webhooks/payments-route.ts';
import { createForgeWebhook } from '../../lambdas/webhooks/routes.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { FakeIdentity } from '../fakes/fake-identity.ts';
import { createMemoryStore, type MemoryStore } from '../fakes/memory-store.ts';
import { FakeSecretBox } from '../fakes/secret-box.ts';
import { FakeWakeQueue } from '../fakes/wake-queue.ts';
import { type CallOptions, surfaceOf, toEvent } from './gateway-event.ts';
import { PlainVault } from './plain-vault.ts';
import { BOT, ScriptedAccounts } from './scripted-accounts.ts';
import { VirtualClock } from './virtual-clock.ts';

export const ADMIN_KEY = 'canary-admin-key-5f2e8a7c';
export const TENANT_A = 'aaaaaaaa-0000-4000-8000-000000000001';
export const TENANT_B = 'bbbbbbbb-0000-4000-8000-000000000002';
export const ADMIN = 'cccccccc-0000-4000-8000-000000000003';
export const TOKEN_A = 'canary.session.token-a-77d1';
export const TOKEN_B = 'canary.session.token-b-42ff';
export const TOKEN_ADMIN = 'canary.session.token-admin-90ab';
export const FORGE_TOKEN = 'canary-forge-token-b81c55e0';
export const CONTAINER_SECRET = 'canary-container-secret-3b77';
export const HOOK_SECRET = 'canary-webhook-secret-11c9';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly cookies: readonly string[];
  /** Parsed body; undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a body is free-form JSON, and the assertions are its schema
  readonly json: any;
  readonly code: string | undefined;
}

/** Parts that only a deployment that sells plans has. */
export interface PaymentsSetup {
  readonly prices: PriceBook;
  readonly openPayments: OpenPayments;
  readonly openReader: () => Promise<SubscriptionReader | null>;
  readonly signingSecret: string;
}

export interface EngineStub {
  readonly answer: EngineAnswer;
  readonly logTail: readonly string[];
  /** Its work under its lease, and the code that its report then has. @default none, null */
  readonly act?: (
    repoId: string,
    grant: LeaseGrant,
    command: ReconcileCommand,
  ) => Promise<ReconcileErrorCode | null>;
}

/** The whole HTTP API in one process, over the memory store: events and answers as the gateway has them. */
export class ApiWorld {
  readonly clock = new VirtualClock();
  readonly store: MemoryStore = createMemoryStore({ clock: this.clock });
  readonly identity = new FakeIdentity();
  readonly forge = new ScriptedAccounts();
  readonly lines: string[] = [];
  /** Every answer that left, for scans. */
  readonly answers: string[] = [];
  readonly sent = new FakeWakeQueue(this.clock);
  /** The engine's answer to the worker, and the rows that it leaves behind. */
  engine: EngineStub | null = { answer: 'ok', logTail: ['looked'] };
  engineHealthy = true;
  readonly vault = new PlainVault();
  readonly secrets = new FakeSecretBox();
  /** Null: nothing is signed. Set before the first call. */
  signer: Signer | null = null;
  adminKey: string | null = ADMIN_KEY;
  containerSecret = CONTAINER_SECRET;
  analyticsKey = '';
  legacyListing = false;
  /** The forge as a person's own token sees it. @default it refuses every token */
  openPerson: OpenForgePerson = () => refusingPerson();
  /** Logs of gate runs on the forge. @default it gives none */
  readRunLog: ForgeLog['readRunLog'] = async () => ({ kind: 'not_offered' });
  /** Addresses of names that a guard may ask for. */
  readonly hosts = new Map<string, string>();
  rateFactor = 1;
  /** Null: payments are not configured. Set before the first call. */
  payments: PaymentsSetup | null = null;
  planLimits: PlanLimitsTable = PLAN_LIMITS;
  /** Notices for tenants. */
  readonly notices = this.store.notices;

  readonly #log = createLog({ service: 'test', write: (line) => this.lines.push(line), now: () => 0 });
  #surfaces: Readonly<Record<HttpSurface, Handler>> | null = null;

  constructor() {
    this.identity.signIn(TOKEN_A, TENANT_A);
    this.identity.signIn(TOKEN_B, TENANT_B);
    this.identity.signIn(TOKEN_ADMIN, ADMIN, true);
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const event = toEvent(method, path, options);
    this.#surfaces ??= this.#build();
    const handle = this.#surfaces[surfaceOf(event.routeKey)];
    // Its own for each call: calls of a test may overlap, invocations of an instance do not.
    const response = await handle(event, { ...CONTEXT });
    return this.#read(response);
  }

  as(token: string) {
    return (method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> =>
      this.call(method, path, { token, ...(body === undefined ? {} : { body }), ...options });
  }

  /** A tenant with a connection and a repo, past the API. */
  async enroll(
    tenantId: string,
    changes: Partial<ManagedRepo> = {},
    connectionChanges: Partial<Connection> = {},
  ): Promise<{ readonly repo: ManagedRepo; readonly connection: Connection }> {
    const now = this.clock.now();
    const connectionId = connectionChanges.id ?? randomUUID();
    const instanceUrl = changes.instanceUrl ?? `https://${connectionId}.example.org`;
    await this.store.createTenant(tenantId, now);
    const credential = await this.vault.seal(
      { tenantId, connectionId, instanceUrl },
      new Secret(FORGE_TOKEN),
    );
    const connection = givenConnection({
      id: connectionId,
      tenantId,
      instanceUrl,
      botUsername: BOT,
      credential,
      createdAt: now,
      updatedAt: now,
      ...connectionChanges,
    });
    const known = await this.store.getConnection(tenantId, connectionId);
    if (known === null) await this.store.createConnection(connection);
    const repo = givenRepo({
      id: randomUUID(),
      tenantId,
      connectionId,
      instanceUrl,
      slug: 'acme/app',
      webhookSecret: new Secret(HOOK_SECRET),
      createdAt: now,
      updatedAt: now,
      dueAt: now,
      bisectFanout: 2,
      enabledAt: Date.UTC(2026, 0, 1),
      ...changes,
    });
    const result = await this.store.createRepo(repo, null);
    if (result !== 'created') throw new Error(`not enrolled: ${JSON.stringify(result)}`);
    return { repo, connection };
  }

  signHook(body: string, secret = HOOK_SECRET): string {
    return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  }

  #read(response: HttpResponse): Answer {
    this.answers.push(JSON.stringify(response));
    let json: unknown;
    try {
      json = JSON.parse(response.body);
    } catch {
      json = undefined;
    }
    const code = (json as { error?: { code?: string } } | undefined)?.error?.code;
    const { statusCode: status, headers, body: text, cookies = [] } = response;
    return { status, headers, text, cookies, json, code };
  }

  #build(): Readonly<Record<HttpSurface, Handler>> {
    const { store, clock, identity } = this;
    const log = this.#log;
    const ids = { uuid: () => randomUUID() };
    const now = () => clock.now();
    const surface: SurfaceDeps = { identity, log, now, rates: store, rateFactor: this.rateFactor };
    const readApiToken = createTokenReader({ store, clock, log });
    const noting = { ...surface, readApiToken, noteSignIn: createSignInNotes({ store, log, now }) };
    const readAdminKey = async (): Promise<Secret<string>> => {
      if (this.adminKey === null) throw new Error('no such secret');
      return new Secret(this.adminKey);
    };
    const rules = compileOutboundPolicy({ allowHosts: [], denyHosts: ['api.mergeyard.example'] });
    const resolve = async (host: string) => [{ address: this.hosts.get(host) ?? '93.184.216.34', family: 4 }];
    const { planLimits } = this;
    const common = { store, leases: store, clock, log, ids, queue: this.#queue(), planLimits };
    const { payments } = this;
    const openAccount = (instanceUrl: string, token: Secret<string>) => this.forge.open(instanceUrl, token);
    const checkTarget = (url: string) => checkOutboundTarget(url, rules, resolve);
    return {
      api: createSurface<'api'>(
        noting,
        createApiRoutes({ ...common, tokens: store, identity, queueName: DEFAULT_SERVICE_NAME }),
      ),
      evidence: createSurface<'evidence'>(noting, createEvidenceRoutes({ store, signer: this.signer })),
      advice: createSurface<'advice'>(noting, createAdviceRoutes({ store, clock })),
      connections: createSurface<'connections'>(
        { ...noting, switchedOff: switchedOffRoutes(this.legacyListing) },
        createConnectionRoutes({ ...common, vault: this.vault, openAccount, checkTarget }),
      ),
      'forge-ops': createSurface<'forge-ops'>(
        noting,
        createForgeOpsRoutes({
          ...common,
          vault: this.vault,
          secrets: this.secrets,
          openAccount,
          makeWebhookKey,
          checkNoticeTarget: checkTarget,
          openPerson: (repo, token) => this.openPerson(repo, token),
          openLog: createForgeOpener({
            store,
            vault: this.vault,
            connect: ({ slug }) => ({
              readRepoId: () => this.forge.adminOf(slug).readRepoId(),
              readRunLog: (run) => this.readRunLog(run),
            }),
          }),
          openForge: createForgeOpener({
            store,
            vault: this.vault,
            connect: ({ slug }) => this.forge.adminOf(slug),
          }),
          webhookUrl: 'https://api.mergeyard.example/api/v1/webhooks/forge',
          queueName: DEFAULT_SERVICE_NAME,
        }),
      ),
      admin: createSurface<'admin'>(
        {
          ...surface,
          readAdminKey,
          container: { readSecret: async () => new Secret(this.containerSecret), clock },
        },
        createAdminRoutes({ store, leases: store }),
      ),
      billing: createSurface<'billing'>(
        noting,
        createBillingRoutes({
          ...common,
          openPayments: async () => (await this.payments?.openPayments()) ?? null,
          prices: payments?.prices ?? null,
          billingPageUrl: 'https://mergeyard.example/billing',
        }),
      ),
      'webhooks-payments': middy(
        createPaymentsWebhook({
          store: this.#paymentStore(),
          clock,
          log,
          prices: payments?.prices ?? null,
          readSigningSecret: payments === null ? null : async () => new Secret(payments.signingSecret),
          openReader: payments?.openReader ?? (async () => null),
        }),
      ).use(answerWithEnvelope(log)),
      public: createSurface<'public'>(
        surface,
        createPublicRoutes({
          store,
          identity,
          clock,
          log,
          analyticsKey: this.analyticsKey,
          queueHealthCachedMs: 0,
          mailboxes: store,
        }),
      ),
      'webhooks-forge': middy(
        createForgeWebhook({
          store,
          leases: store,
          secrets: this.secrets,
          queue: this.sent,
          clock,
          queueName: DEFAULT_SERVICE_NAME,
          planLimits,
        }),
      ).use(answerWithEnvelope(log)),
      'container-health': middy(
        createContainerHealth({ ...surface, isHealthy: async () => this.engineHealthy, clock }),
      ).use(answerWithEnvelope(log)),
    };
  }

  /** The store of the payment webhook; notices are asked for in a list. */
  #paymentStore(): PaymentEventDeps['store'] {
    const { store } = this;
    return {
      loadBilling: (tenantId) => store.loadBilling(tenantId),
      findCustomerTenant: (customerId) => store.findCustomerTenant(customerId),
      saveBilling: (...given) => store.saveBilling(...given),
      isEventTaken: (eventId) => store.isEventTaken(eventId),
      requestNotice: async (notice) => {
        this.notices.push(notice);
        return true;
      },
    };
  }

  /** The worker's handling of a wake. */
  async answerWake(repoId: string): Promise<void> {
    const { store, clock } = this;
    if (this.engine === null) return;
    const { answer, logTail, act } = this.engine;
    await dispatchReconcile(
      {
        store,
        leases: store,
        vault: this.vault,
        planLimits: this.planLimits,
        workersMax: WORKERS_MAX,
        queue: this.sent,
        clock,
        log: this.#log,
        ids: { uuid: () => randomUUID() },
        engine: {
          isHealthy: async () => true,
          reconcile: async (_request, { fence, command }) => {
            const grant = await store.readLease(repoId);
            if (grant === null) throw new Error('the engine runs without a lease');
            const errorCode = (await act?.(repoId, grant, command)) ?? null;
            store.leaveReport(repoId, { fence, at: clock.now(), wakeAt: null, logTail, errorCode });
            return answer;
          },
        },
        queueName: DEFAULT_SERVICE_NAME,
      },
      repoId,
    );
  }

  /** Wakes are answered at once, by the worker's own service over an engine that is a value. */
  #queue() {
    return {
      sendWake: async (repoId: string, wakeSeq: number): Promise<void> => {
        await this.sent.sendWake(repoId, wakeSeq);
        await this.answerWake(repoId);
      },
    };
  }
}

function refusingPerson(): ForgePerson {
  const no = () => Promise.reject(new ForgeError('denied', 'any', 401));
  return { readRepoId: no, readAccount: no, readPull: no, readProtection: no, schedule: no, cancel: no };
}

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<HttpResponse>;

// biome-ignore lint/suspicious/noExplicitAny: handlers use nothing of it but what the steps put there
const CONTEXT = {} as any;
