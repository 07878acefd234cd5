import { AppError } from '#core/contracts/errors.ts';
import { formatTime } from '#core/contracts/fields.ts';
import { toAuthorNoticesView } from '#core/contracts/notices/author-notices.ts';
import { toDeliveryList } from '#core/contracts/notices/notice-webhook.ts';
import { toManagedRepoView, toQueueStatusEntry } from '#core/contracts/repos/managed-repo.ts';
import { Me, SESSION_COOKIE } from '#core/contracts/tenants/account.ts';
import { toScopeGrants, toTokenView } from '#core/contracts/tenants/api-token.ts';
import { toConnectionView } from '#core/contracts/tenants/connection.ts';
import { DELIVERIES_SHOWN_MAX, TICKET_TTL_MS } from '#core/domain/api-limits.ts';
import { gateTemplate } from '#core/domain/forge/gate-workflow.ts';
import { gateFileName } from '#core/domain/queue/queue-names.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import type { AccountStore, RateStore, RealtimeStore } from '#core/ports/account-store.ts';
import type { AuthorStore } from '#core/ports/author-store.ts';
import type { BillingStore } from '#core/ports/billing-store.ts';
import type { DeliveryStore } from '#core/ports/delivery-store.ts';
import type { IdentityPort } from '#core/ports/identity.ts';
import type { MailboxStore } from '#core/ports/mailbox-store.ts';
import type { NoticeRequestStore } from '#core/ports/notifier.ts';
import type { DispatchStore, EngineStore, EnrollmentStore, LeaseStore } from '#core/ports/store.ts';
import type { Clock, Ids, Log, WakeQueue } from '#core/ports/system.ts';
import type { TokenStore } from '#core/ports/token-store.ts';
import type { PlanDeps } from '#core/services/billing/plans.ts';
import { deleteConnection } from '#core/services/connections/delete-connection.ts';
import { askConfirmation } from '#core/services/notices/ask-confirmation.ts';
import { readAuthorNotices } from '#core/services/notices/author-notices.ts';
import { testNotices } from '#core/services/notices/notice-webhook.ts';
import { readPull } from '#core/services/pulls/read-pull.ts';
import { readActivity } from '#core/services/reads/read-activity.ts';
import { readEvents } from '#core/services/reads/read-events.ts';
import { readRepoFigures } from '#core/services/reads/read-figures.ts';
import { issueTicket } from '#core/services/realtime/tickets.ts';
import { deleteRepo } from '#core/services/repos/delete-repo.ts';
import { loadOwnRepo } from '#core/services/repos/owned.ts';
import { readRepoFacts } from '#core/services/repos/repo-facts.ts';
import { exportTenant } from '#core/services/tenants/account.ts';
import { createToken, deleteToken } from '#core/services/tenants/api-tokens.ts';
import { listSessions } from '#core/services/tenants/list-sessions.ts';
import { reconcileNow } from '#core/services/wakes/manual-reconcile.ts';
import { clearedSessionCookie, isOwnOrigin, readSessionToken, refuseSocket } from './session.ts';

export interface ApiDeps extends PlanDeps {
  readonly store: EnrollmentStore &
    DispatchStore &
    AccountStore &
    Pick<BillingStore, 'loadBilling'> &
    RealtimeStore &
    NoticeRequestStore &
    Pick<DeliveryStore, 'listDeliveries'> &
    MailboxStore &
    Pick<AuthorStore, 'listAuthorNotices' | 'findAuthorNotices'> &
    RateStore &
    Pick<EngineStore, 'listOwnBatches' | 'listOwnEvents'>;
  readonly tokens: TokenStore;
  readonly leases: Pick<LeaseStore, 'readLeaseState'>;
  readonly identity: IdentityPort;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly queueName: string;
}

export function createApiRoutes(deps: ApiDeps): ApiHandlers<'api'> {
  return { ...repoRoutes(deps), ...queueRoutes(deps), ...accountRoutes(deps) };
}

function repoRoutes(deps: ApiDeps) {
  const { store } = deps;
  return {
    listConnections: async ({ tenantId }) => {
      const connections = await store.listConnections(tenantId);
      return { status: 200, body: connections.filter((each) => !each.deleting).map(toConnectionView) };
    },
    deleteConnection: async ({ tenantId, id }) => {
      await deleteConnection(deps, tenantId, id);
      return { status: 204 };
    },
    listRepos: async ({ tenantId, repoIds }) => {
      const facts = await readRepoFacts(store, tenantId, deps.planLimits, repoIds);
      return { status: 200, body: facts.map(toManagedRepoView) };
    },
    deleteRepo: async ({ tenantId, id }) => {
      await deleteRepo(deps, tenantId, id);
      return { status: 204 };
    },
    reconcileRepo: async ({ tenantId, id }) => {
      const { ranAt, ok, error, logTail, retryAfterMs } = await reconcileNow(deps, tenantId, id);
      const body = { reconcile: { ran_at: formatTime(ranAt), ok, error }, log_tail: [...logTail] };
      if (ok) return { status: 200, body };
      const seconds = retryAfterMs === undefined ? null : Math.ceil(retryAfterMs / 1000);
      return {
        status: 500,
        body,
        ...(seconds === null ? {} : { headers: { 'retry-after': String(seconds) } }),
      };
    },
    askConfirmation: async ({ tenantId, id }) => ({
      status: 200,
      body: { email_state: await askConfirmation(deps, tenantId, id) },
    }),
    listDeliveries: async ({ tenantId, id }) => {
      const repo = await loadOwnRepo(store, tenantId, id);
      const deliveries = await store.listDeliveries(repo.id, DELIVERIES_SHOWN_MAX);
      return { status: 200, body: toDeliveryList(deliveries) };
    },
    testNotices: async ({ tenantId, id }) => ({
      status: 200,
      body: { asked: await testNotices(deps, tenantId, id) },
    }),
    readGateTemplate: async ({ tenantId, id }) => {
      await loadOwnRepo(store, tenantId, id);
      return {
        status: 200,
        text: gateTemplate(deps.queueName, null),
        headers: { 'content-disposition': `inline; filename="${gateFileName(deps.queueName)}"` },
      };
    },
  } satisfies Partial<ApiHandlers<'api'>>;
}

function queueRoutes(deps: ApiDeps) {
  const { store } = deps;
  return {
    readQueueStatus: async ({ tenantId, repoIds }) => {
      const facts = await readRepoFacts(store, tenantId, deps.planLimits, repoIds);
      const leases = await Promise.all(facts.map(({ repo }) => deps.leases.readLeaseState(repo.id)));
      const repos = facts.map((fact, index) => toQueueStatusEntry(fact, leases[index] ?? 'unknown'));
      return { status: 200, body: { queue_name: deps.queueName, repos } };
    },
    readActivity: async ({ tenantId, query, repoIds }) => ({
      status: 200,
      body: await readActivity(deps, tenantId, query.before ?? null, repoIds),
    }),
    readFigures: async ({ tenantId, id }) => ({
      status: 200,
      body: await readRepoFigures(deps, tenantId, id),
    }),
    readPull: async ({ tenantId, id, number }) => ({
      status: 200,
      body: await readPull(deps, tenantId, id, number),
    }),
    readEvents: async ({ tenantId, id, query }) => ({
      status: 200,
      body: await readEvents(deps, tenantId, id, query),
    }),
    createTicket: async ({ tenantId }) => {
      const ticket = await issueTicket(deps, tenantId);
      return { status: 200, body: { ticket, expires_in: TICKET_TTL_MS / 1000 } as const };
    },
    openSocket: ({ event }) => Promise.reject(refuseSocket(event)),
  } satisfies Partial<ApiHandlers<'api'>>;
}

function accountRoutes(deps: ApiDeps) {
  return {
    readMe: async ({ tenantId }) => ({ status: 200, body: Me.parse({ id: tenantId }) }),
    readSession: async ({ event }) => {
      const token = readSessionToken(event);
      if (token === 'none') return { status: 200, body: { authenticated: false } };
      const answer = token === 'junk' ? { kind: 'invalid' as const } : await deps.identity.verify(token);
      // "Signed out" would be a lie while the provider gives no answer (D-39).
      if (answer.kind === 'unavailable') throw new AppError('auth_unavailable');
      return { status: 200, body: { authenticated: answer.kind === 'user' } };
    },
    logOut: async ({ event }) => ({
      status: 204,
      ...(isOwnOrigin(event) ? { cookies: [clearedSessionCookie(SESSION_COOKIE)] } : {}),
    }),
    listSessions: async ({ tenantId, caller }) => {
      const { session, person = tenantId } = caller.kind === 'user' ? caller : {};
      const sessions = (await listSessions(deps, tenantId, person)).map(({ id, at, from }) => ({
        id,
        from,
        started_at: formatTime(at),
        current: id === session?.id,
      }));
      return { status: 200, body: { sessions } };
    },
    listTokens: async ({ tenantId }) => ({
      status: 200,
      body: (await deps.tokens.listApiTokens(tenantId)).map(toTokenView),
    }),
    createToken: async ({ tenantId, body }) => {
      const wanted = { name: body.name, days: body.expires_in_days, scopes: toScopeGrants(body.scopes) };
      const { token, text } = await createToken(deps, tenantId, wanted);
      return { status: 201, body: { ...toTokenView(token), token: text } };
    },
    deleteToken: async ({ tenantId, id }) => {
      await deleteToken(deps, tenantId, id);
      return { status: 204 };
    },
    readAuthorNotices: async ({ tenantId, caller }) => {
      const { person = null, forge = null } = caller.kind === 'user' ? caller : {};
      const logins = await readAuthorNotices(deps, { tenantId, person });
      return { status: 200, body: toAuthorNoticesView(forge, logins) };
    },
    exportTenant: async ({ tenantId }) => ({ status: 200, body: await exportTenant(deps, tenantId) }),
  } satisfies Partial<ApiHandlers<'api'>>;
}
