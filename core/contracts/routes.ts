import type * as z from 'zod';
import type { RateClass } from '../domain/api-limits.ts';
import * as account from './account.ts';
import * as activity from './activity.ts';
import * as admin from './admin.ts';
import * as billing from './billing.ts';
import * as connection from './connection.ts';
import type { ErrorCode } from './errors.ts';
import * as health from './health.ts';
import * as repo from './managed-repo.ts';
import { WebhookOutcomeBody } from './webhook.ts';

/** Functions that answer HTTP. Each is one bundle in `dist/<name>`, with rights of its own (A118). */
export type HttpSurface =
  | 'webhooks-forge'
  | 'public'
  | 'container-health'
  | 'admin'
  /** Seals credentials, cannot open them. */
  | 'connections'
  /** Opens credentials to call forges. */
  | 'forge-ops'
  /** All other Bearer routes: no key at all. */
  | 'api';

/**
 * `bearer`: a verified session. `me`: the same, but every refusal is `not_authenticated` (D-38). `session`: looks for a
 * session by itself. `admin`: admin session or `X-Admin-Key`. `operator`: the same, but every refusal is `missing_auth`.
 * `socket`: ticket or session cookie. `signature`: over the raw body, by the handler.
 */
export type RouteAuth = 'bearer' | 'me' | 'session' | 'admin' | 'operator' | 'socket' | 'signature' | 'none';

/** A JSON body of this shape, no body at all, or a text of this media type. */
export type ReplyBody = z.ZodType | null | { readonly mediaType: string };

export interface RouteSpec {
  /** Name of the operation: what handlers, clients and tests call it. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As API Gateway writes it: `{id}` is one segment. */
  readonly path: `/${string}`;
  readonly surface: HttpSurface;
  readonly auth: RouteAuth;
  /** Bucket in addition to the caller's own. */
  readonly rate?: RateClass;
  readonly query?: z.ZodType;
  /** JSON object of this shape. */
  readonly body?: z.ZodType;
  /** What a wrong or missing field is called where it is not `invalid_field` and `missing_fields`. */
  readonly fieldErrors?: Readonly<Record<string, ErrorCode>>;
  /** By status; anything a schema does not name does not leave (A62). */
  readonly replies: Readonly<Record<number, ReplyBody>>;
  /** Codes that this route may answer beyond those of its kind of auth. */
  readonly errors: readonly ErrorCode[];
}

/** What every route of a kind of auth may answer. */
export const AUTH_ERRORS = {
  bearer: ['missing_auth', 'unauthorized', 'invalid_token', 'auth_unavailable', 'rate_limited'],
  me: ['not_authenticated', 'auth_unavailable', 'rate_limited'],
  session: ['auth_unavailable', 'rate_limited'],
  admin: [
    'missing_auth',
    'unauthorized',
    'invalid_token',
    'invalid_key',
    'forbidden',
    'auth_unavailable',
    'rate_limited',
  ],
  operator: ['missing_auth'],
  socket: ['missing_auth', 'invalid_token', 'forbidden', 'upgrade_required', 'auth_unavailable'],
  signature: [],
  none: [],
} as const satisfies Readonly<Record<RouteAuth, readonly ErrorCode[]>>;

const BODY = ['invalid_body', 'invalid_field'] as const;
const STORED = ['db_error'] as const;
const OWN = ['not_found', 'db_error'] as const;
const ON_FORGE = ['not_found', 'connection_not_found', 'decryption_error', 'db_error'] as const;

/** THE table of public routes: gateway routes, router, validation, serializers, document, client and tests come from it. */
export const ROUTES = [
  {
    id: 'listConnections',
    method: 'GET',
    path: '/api/v1/connections',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: connection.ConnectionList },
    errors: STORED,
  },
  {
    id: 'createConnection',
    method: 'POST',
    path: '/api/v1/connections',
    surface: 'connections',
    auth: 'bearer',
    rate: 'create_connection',
    body: connection.CreateConnectionBody,
    replies: { 201: connection.CreatedConnection, 200: connection.RotatedConnection },
    errors: [
      ...BODY,
      'missing_fields',
      'connection_limit_exceeded',
      'connection_identity_already_used',
      'forge_access_denied',
      'connection_rotation_failed',
      'failed_to_create_connection',
      'billing_unavailable',
    ],
  },
  {
    id: 'updateConnection',
    method: 'PATCH',
    path: '/api/v1/connections/{id}',
    surface: 'connections',
    auth: 'bearer',
    body: connection.PatchConnectionBody,
    replies: { 200: connection.PatchedConnection },
    errors: [...BODY, ...OWN, 'connection_identity_already_used', 'connection_rotation_failed'],
  },
  {
    id: 'deleteConnection',
    method: 'DELETE',
    path: '/api/v1/connections/{id}',
    surface: 'api',
    auth: 'bearer',
    replies: { 204: null },
    errors: OWN,
  },
  {
    id: 'discoverRepos',
    method: 'POST',
    path: '/api/v1/connections/{id}/discover',
    surface: 'forge-ops',
    auth: 'bearer',
    rate: 'discover',
    replies: { 200: connection.DiscoveredRepos },
    errors: [...OWN, 'forge_error', 'forge_unreachable', 'decryption_error'],
  },
  {
    id: 'listRepos',
    method: 'GET',
    path: '/api/v1/user/repos',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: repo.ManagedRepoList },
    errors: STORED,
  },
  {
    id: 'enrollRepo',
    method: 'POST',
    path: '/api/v1/user/repos',
    surface: 'forge-ops',
    auth: 'bearer',
    rate: 'enroll',
    body: repo.EnrollRepoBody,
    replies: { 201: repo.EnrolledRepo },
    errors: [
      ...BODY,
      'missing_fields',
      ...OWN,
      'repo_limit_exceeded',
      'repo_already_managed',
      'billing_unavailable',
    ],
  },
  {
    id: 'updateRepo',
    method: 'PATCH',
    path: '/api/v1/user/repos/{id}',
    surface: 'forge-ops',
    auth: 'bearer',
    body: repo.PatchRepoBody,
    replies: { 200: repo.ManagedRepoView },
    errors: [
      ...BODY,
      ...ON_FORGE,
      'queue_locked',
      'queue_lock_failed',
      'forge_access_denied',
      'forge_unreachable',
    ],
  },
  {
    id: 'deleteRepo',
    method: 'DELETE',
    path: '/api/v1/user/repos/{id}',
    surface: 'api',
    auth: 'bearer',
    replies: { 204: null },
    errors: OWN,
  },
  {
    id: 'provisionRepo',
    method: 'POST',
    path: '/api/v1/user/repos/{id}/provision',
    surface: 'forge-ops',
    auth: 'bearer',
    replies: { 200: repo.ProvisionedRepo },
    errors: ON_FORGE,
  },
  {
    id: 'protectRepo',
    method: 'POST',
    path: '/api/v1/user/repos/{id}/protect',
    surface: 'forge-ops',
    auth: 'bearer',
    body: repo.ProtectBody,
    replies: { 200: repo.ProtectedRepo },
    errors: [...BODY, 'missing_fields', ...ON_FORGE, 'forge_unreachable'],
  },
  {
    id: 'reconcileRepo',
    method: 'POST',
    path: '/api/v1/user/repos/{id}/reconcile',
    surface: 'api',
    auth: 'bearer',
    rate: 'reconcile',
    // A failed reconcile is an answer in the same shape, not the envelope (D-26).
    replies: { 200: repo.ManualReconcile, 500: repo.ManualReconcile },
    errors: [...ON_FORGE, 'payment_required', 'queue_not_ready', 'queue_locked'],
  },
  {
    id: 'readQueueStatus',
    method: 'GET',
    path: '/api/v1/user/queue/status',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: repo.QueueStatus },
    errors: STORED,
  },
  {
    id: 'readActivity',
    method: 'GET',
    path: '/api/v1/user/queue/activity',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: activity.Activity },
    errors: STORED,
  },
  {
    id: 'readGateTemplate',
    method: 'GET',
    path: '/api/v1/user/repos/{id}/ci-gate/template',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: { mediaType: 'application/yaml; charset=utf-8' } },
    errors: OWN,
  },
  {
    id: 'openSetupPull',
    method: 'POST',
    path: '/api/v1/user/repos/{id}/ci-gate/setup-pr',
    surface: 'forge-ops',
    auth: 'bearer',
    rate: 'ci_gate',
    replies: { 201: repo.SetupPull },
    errors: [...ON_FORGE, 'ci_gate_exists', 'forge_access_denied', 'forge_unreachable'],
  },
  {
    id: 'verifyGate',
    method: 'POST',
    path: '/api/v1/user/repos/{id}/ci-gate/verify',
    surface: 'forge-ops',
    auth: 'bearer',
    rate: 'ci_gate',
    replies: { 200: repo.GateVerification },
    errors: [...ON_FORGE, 'ci_gate_missing', 'forge_access_denied', 'forge_unreachable'],
  },
  {
    id: 'createTicket',
    method: 'POST',
    path: '/api/v1/user/queue/ws/ticket',
    surface: 'api',
    auth: 'bearer',
    rate: 'ticket',
    replies: { 200: account.Ticket },
    errors: ['realtime_unavailable'],
  },
  {
    id: 'openSocket',
    method: 'GET',
    path: '/api/v1/user/queue/ws',
    surface: 'api',
    auth: 'socket',
    // 101 is the socket gateway's; over plain HTTP every answer is a refusal (D-71).
    replies: { 101: null },
    errors: [],
  },
  {
    id: 'readBilling',
    method: 'GET',
    path: '/api/v1/billing/me',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: billing.BillingSummary },
    errors: ['billing_unavailable'],
  },
  {
    id: 'startCheckout',
    method: 'POST',
    path: '/api/v1/billing/checkout',
    surface: 'api',
    auth: 'bearer',
    rate: 'billing',
    body: billing.TierBody,
    fieldErrors: { tier: 'invalid_tier' },
    replies: { 200: billing.CheckoutStarted },
    errors: [
      'invalid_body',
      'invalid_tier',
      'subscription_exists',
      'billing_unavailable',
      'payments_not_configured',
      'payments_error',
    ],
  },
  {
    id: 'changePlan',
    method: 'POST',
    path: '/api/v1/billing/change-plan',
    surface: 'api',
    auth: 'bearer',
    rate: 'billing',
    body: billing.TierBody,
    fieldErrors: { tier: 'invalid_tier' },
    replies: { 200: billing.PlanChanged },
    errors: [
      'invalid_body',
      'invalid_tier',
      'already_on_tier',
      'no_active_subscription',
      'subscription_state_mismatch',
      'billing_unavailable',
      'payments_not_configured',
      'payments_error',
      'db_error',
    ],
  },
  {
    id: 'openPortal',
    method: 'POST',
    path: '/api/v1/billing/portal',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: billing.PortalOpened },
    errors: ['no_active_subscription', 'payments_not_configured', 'payments_error'],
  },
  {
    id: 'readMe',
    method: 'GET',
    path: '/api/v1/me',
    surface: 'api',
    auth: 'me',
    replies: { 200: account.Me },
    errors: [],
  },
  {
    id: 'readSession',
    method: 'GET',
    path: '/api/v1/auth/session',
    surface: 'api',
    auth: 'session',
    rate: 'ip',
    replies: { 200: account.SessionState },
    errors: [],
  },
  {
    id: 'logOut',
    method: 'POST',
    path: '/api/v1/logout',
    surface: 'api',
    auth: 'none',
    replies: { 204: null },
    errors: [],
  },
  {
    id: 'exportTenant',
    method: 'GET',
    path: '/api/v1/tenant/export',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: account.TenantExport },
    errors: STORED,
  },
  {
    id: 'offboardTenant',
    method: 'POST',
    path: '/api/v1/tenant/offboard',
    surface: 'api',
    auth: 'bearer',
    body: account.OffboardBody,
    fieldErrors: { confirm: 'confirm_mismatch' },
    replies: { 200: account.Offboarded },
    errors: ['invalid_body', 'confirm_mismatch', 'db_error'],
  },
  {
    id: 'searchRepos',
    method: 'GET',
    path: '/api/v1/admin/repos',
    surface: 'admin',
    auth: 'admin',
    query: admin.AdminReposQuery,
    replies: { 200: admin.AdminRepos },
    errors: ['invalid_field', 'db_error'],
  },
  {
    id: 'listAllConnections',
    method: 'GET',
    path: '/api/v1/admin/connections',
    surface: 'admin',
    auth: 'admin',
    replies: { 200: admin.AdminConnections },
    errors: STORED,
  },
  {
    id: 'readStats',
    method: 'GET',
    path: '/api/v1/admin/stats',
    surface: 'admin',
    auth: 'admin',
    replies: { 200: admin.AdminStats },
    errors: STORED,
  },
  {
    id: 'checkIdentity',
    method: 'GET',
    path: '/api/healthz',
    surface: 'public',
    auth: 'none',
    replies: { 200: health.Healthy, 503: health.Unhealthy },
    errors: [],
  },
  {
    id: 'refuseReadyz',
    method: 'GET',
    path: '/readyz',
    surface: 'public',
    auth: 'none',
    replies: {},
    errors: ['gone'],
  },
  {
    id: 'checkPrivately',
    method: 'GET',
    path: '/api/v1/healthz',
    surface: 'admin',
    auth: 'operator',
    replies: { 200: health.Healthy },
    errors: [],
  },
  {
    id: 'checkContainer',
    method: 'GET',
    path: '/api/container-health',
    surface: 'container-health',
    auth: 'none',
    replies: { 200: health.Healthy, 503: health.Unhealthy },
    errors: [],
  },
  {
    id: 'checkQueue',
    method: 'GET',
    path: '/api/queue-health',
    surface: 'public',
    auth: 'none',
    replies: { 200: health.QueueHealth },
    errors: [],
  },
  {
    id: 'readAnalyticsConfig',
    method: 'GET',
    path: '/api/v1/analytics-config',
    surface: 'public',
    auth: 'none',
    replies: { 200: { mediaType: 'application/javascript; charset=utf-8' } },
    errors: [],
  },
  {
    id: 'acceptForgeEvent',
    method: 'POST',
    path: '/api/v1/webhooks/forge',
    surface: 'webhooks-forge',
    auth: 'signature',
    replies: { 200: WebhookOutcomeBody },
    errors: [
      'invalid_body',
      'missing_fields',
      'invalid_signature',
      'not_found',
      'lease_held',
      'internal_error',
    ],
  },
  {
    id: 'acceptPaymentEvent',
    method: 'POST',
    path: '/api/v1/payments/webhook',
    surface: 'public',
    auth: 'signature',
    replies: { 200: billing.PaymentEventTaken },
    errors: ['invalid_signature', 'invalid_body', 'db_error'],
  },
  {
    id: 'listForgeRepos',
    method: 'POST',
    path: '/api/v1/forge/repos',
    surface: 'connections',
    auth: 'none',
    rate: 'legacy_listing',
    // Validated by the handler: switched off, it is 404 whatever was sent (D-21).
    replies: { 200: connection.DiscoveredRepos },
    errors: [
      'not_found',
      'missing_fields',
      'invalid_field',
      'forge_error',
      'forge_unreachable',
      'rate_limited',
    ],
  },
] as const satisfies readonly RouteSpec[];

export type Route = (typeof ROUTES)[number];
export type RouteId = Route['id'];
export type RouteById<Id extends RouteId> = Extract<Route, { readonly id: Id }>;
export type RouteIdOf<Surface extends HttpSurface> = Extract<Route, { readonly surface: Surface }>['id'];

/** Every code that a route may answer. */
export function errorsOf(route: RouteSpec): readonly ErrorCode[] {
  return [...AUTH_ERRORS[route.auth], ...route.errors];
}

/** Answers what no route matches with the 404 envelope; the gateway's own 404 has another shape (D-77). */
export const CATCH_ALL_SURFACE = 'public' satisfies HttpSurface;
