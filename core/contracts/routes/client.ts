import type { ErrorCode } from '../errors.ts';
import type { RouteSpec, Schema } from './route-spec.ts';
import type { RouteById, RouteId } from './routes.ts';

/**
 * The typed client of the public API. Of the route table it takes types alone, so that neither zod nor a schema gets into
 * a browser's bundle; the addresses below do not compile unless they are the table's.
 */
type Address<Id extends RouteId> =
  `${RouteById<Id>['method']} ${RouteById<Id>['path']}${Told<RouteById<Id>['replies']>}`;

/** A third word where the body of a success is no JSON object. */
type Told<Replies> = Replies extends { readonly 200: { readonly mediaType: `${infer Media}; ${string}` } }
  ? ` ${Media}`
  : Replies extends { readonly 200: Schema }
    ? Replies[200]['_zod']['output'] extends readonly unknown[]
      ? ' list'
      : ''
    : Replies extends { readonly 204: null }
      ? ' none'
      : '';

/** Routes that a socket or another sender calls, not a client. */
type NotCalled = 'openSocket' | 'acceptForgeEvent' | 'acceptPaymentEvent';
export type ClientRouteId = Exclude<RouteId, NotCalled>;

const ADDRESSES = {
  listConnections: 'GET /api/v1/connections list',
  createConnection: 'POST /api/v1/connections',
  updateConnection: 'PATCH /api/v1/connections/{id}',
  deleteConnection: 'DELETE /api/v1/connections/{id} none',
  discoverRepos: 'POST /api/v1/connections/{id}/discover',
  listRepos: 'GET /api/v1/user/repos list',
  enrollRepo: 'POST /api/v1/user/repos',
  updateRepo: 'PATCH /api/v1/user/repos/{id}',
  deleteRepo: 'DELETE /api/v1/user/repos/{id} none',
  provisionRepo: 'POST /api/v1/user/repos/{id}/provision',
  protectRepo: 'POST /api/v1/user/repos/{id}/protect',
  pauseRepo: 'POST /api/v1/user/repos/{id}/pause',
  drainRepo: 'POST /api/v1/user/repos/{id}/drain',
  resumeRepo: 'POST /api/v1/user/repos/{id}/resume',
  reconcileRepo: 'POST /api/v1/user/repos/{id}/reconcile',
  readQueueStatus: 'GET /api/v1/user/queue/status',
  readActivity: 'GET /api/v1/user/queue/activity',
  readPull: 'GET /api/v1/user/repos/{id}/pulls/{number}',
  readEvents: 'GET /api/v1/user/repos/{id}/events',
  readGateLog: 'GET /api/v1/user/repos/{id}/pulls/{number}/gate-log',
  enqueuePull: 'PUT /api/v1/user/repos/{id}/pulls/{number}/queue',
  dequeuePull: 'DELETE /api/v1/user/repos/{id}/pulls/{number}/queue none',
  readGateTemplate: 'GET /api/v1/user/repos/{id}/ci-gate/template application/yaml',
  openSetupPull: 'POST /api/v1/user/repos/{id}/ci-gate/setup-pr',
  verifyGate: 'POST /api/v1/user/repos/{id}/ci-gate/verify',
  readPullEvidence: 'GET /api/v1/user/repos/{id}/pulls/{number}/evidence',
  readCommitEvidence: 'GET /api/v1/user/repos/{id}/evidence',
  readEvidenceKey: 'GET /api/v1/evidence/key',
  createTicket: 'POST /api/v1/user/queue/ws/ticket',
  readBilling: 'GET /api/v1/billing/me',
  readPlans: 'GET /api/v1/billing/plans',
  startCheckout: 'POST /api/v1/billing/checkout',
  changePlan: 'POST /api/v1/billing/change-plan',
  openPortal: 'POST /api/v1/billing/portal',
  readMe: 'GET /api/v1/me',
  readSession: 'GET /api/v1/auth/session',
  logOut: 'POST /api/v1/logout none',
  listSessions: 'GET /api/v1/sessions',
  readAuthorNotices: 'GET /api/v1/author-notices',
  setAuthorNotices: 'PUT /api/v1/author-notices',
  listTokens: 'GET /api/v1/tokens list',
  createToken: 'POST /api/v1/tokens',
  deleteToken: 'DELETE /api/v1/tokens/{id} none',
  exportTenant: 'GET /api/v1/tenant/export',
  offboardTenant: 'POST /api/v1/tenant/offboard',
  searchRepos: 'GET /api/v1/admin/repos',
  listAllConnections: 'GET /api/v1/admin/connections',
  readStats: 'GET /api/v1/admin/stats',
  checkIdentity: 'GET /api/healthz',
  refuseReadyz: 'GET /readyz',
  checkPrivately: 'GET /api/v1/healthz',
  checkContainer: 'GET /api/container-health',
  checkQueue: 'GET /api/queue-health',
  readAnalyticsConfig: 'GET /api/v1/analytics-config application/javascript',
  showUnsubscribe: 'GET /api/v1/mail/unsubscribe text/html',
  unsubscribe: 'POST /api/v1/mail/unsubscribe text/html',
  subscribeAgain: 'POST /api/v1/mail/subscribe text/html',
  showConfirm: 'GET /api/v1/mail/confirm text/html',
  confirmMailbox: 'POST /api/v1/mail/confirm text/html',
  askConfirmation: 'POST /api/v1/user/repos/{id}/notification/confirm',
  readFigures: 'GET /api/v1/user/repos/{id}/statistics',
  readFanoutAdvice: 'GET /api/v1/user/repos/{id}/statistics/fanout',
  setNoticeWebhook: 'PUT /api/v1/user/repos/{id}/notification/webhook',
  removeNoticeWebhook: 'DELETE /api/v1/user/repos/{id}/notification/webhook none',
  listDeliveries: 'GET /api/v1/user/repos/{id}/notification/deliveries',
  testNotices: 'POST /api/v1/user/repos/{id}/notification/test',
  listForgeRepos: 'POST /api/v1/forge/repos',
} as const satisfies { readonly [Id in ClientRouteId]: Address<Id> };

type InputOf<R, Key extends 'body' | 'query'> = R extends { readonly [K in Key]: infer Shape }
  ? Shape extends Schema
    ? Shape['_zod']['input']
    : never
  : never;

/** Without the fields that a schema names only to refuse them. */
type Takes<T> = { [K in keyof T as Exclude<T[K], undefined> extends never ? never : K]: T[K] };

/** A query travels as text; numbers are written out. */
type AsQuery<T> = { readonly [K in keyof T]?: string | number };

type PathPart<R extends RouteSpec> = (R['path'] extends `${string}{id}${string}`
  ? { readonly id: string }
  : unknown) &
  (R['path'] extends `${string}{number}${string}` ? { readonly number: number } : unknown) &
  // By the path: a question about the route itself is asked of each one, which are too many for the compiler.
  (R['path'] extends `${string}{number}/queue` ? { readonly forgeToken: string } : unknown) &
  (R['path'] extends `${string}/author-notices` ? { readonly forgeToken?: string } : unknown);
type BodyPart<R> = R extends { readonly body: Schema }
  ? { readonly body: Takes<InputOf<R, 'body'>> }
  : unknown;
type QueryPart<R> = R extends { readonly query: Schema }
  ? { readonly query?: AsQuery<InputOf<R, 'query'>> }
  : unknown;

export interface CallExtras {
  readonly signal?: AbortSignal;
}

/** The input of a call: the id in its path, its body, its query. */
export type InputFor<Id extends ClientRouteId> = PathPart<RouteById<Id>> &
  BodyPart<RouteById<Id>> &
  QueryPart<RouteById<Id>> &
  CallExtras;

type ReplyFor<Shape> = Shape extends Schema
  ? Shape['_zod']['output']
  : Shape extends null
    ? undefined
    : string;

/** Any answer of a route that is not an error envelope: also a failed reconcile or an unhealthy dependency. */
export type ResultOf<Id extends ClientRouteId> = {
  [Status in keyof RouteById<Id>['replies']]: ReplyFor<RouteById<Id>['replies'][Status]>;
}[keyof RouteById<Id>['replies']];

/** `unreachable`: no answer at all. `unexpected`: an answer that is not this API's, from a proxy for example. */
export type ApiErrorCode = ErrorCode | 'unreachable' | 'unexpected';

/** Further fields of an envelope, read by name: `field`, `portal`, `checkout`, `existing_managed_repo_id`, … */
export type ApiErrorFields = Readonly<Record<string, unknown>>;

export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly code: ApiErrorCode,
    message: string,
    /** HTTP status; 0 when there was no answer. */
    readonly status: number,
    /** The same request may succeed later without any change. */
    readonly retryable: boolean,
    readonly fields: ApiErrorFields = {},
    /** From `Retry-After`, null when it was not sent. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }

  /** Name of the offending field of `invalid_field` and `missing_fields`, else null. */
  get field(): string | null {
    return typeof this.fields.field === 'string' ? this.fields.field : null;
  }

  /** Path of the billing portal, where that is the fix, else null. */
  get portal(): string | null {
    return typeof this.fields.portal === 'string' ? this.fields.portal : null;
  }
}

export interface ApiClientOptions {
  /** Origin of the API without a trailing slash; empty for the page's own. */
  readonly baseUrl: string;
  /** Access token of the session, asked before each call; null sends none. */
  readonly readToken: () => string | null | Promise<string | null>;
  /** @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch;
  /** Whether JSON holds what this route answers with. @default every object, or array where the route lists, is taken */
  readonly isAnswer?: (id: ClientRouteId, value: unknown) => boolean;
}

/** One function per route, named as in the table. All of them throw `ApiError` and nothing else, but an abort. */
export type ApiClient = {
  readonly [Id in ClientRouteId]: Record<never, never> extends InputFor<Id>
    ? (input?: InputFor<Id>) => Promise<ResultOf<Id>>
    : (input: InputFor<Id>) => Promise<ResultOf<Id>>;
};

export function createApiClient(options: ApiClientOptions): ApiClient {
  const entries = Object.entries(ADDRESSES).map(([id, address]) => [
    id,
    (input: AnyInput = {}) => exchange(options, id as ClientRouteId, address, input),
  ]);
  // The addresses are typed by the table above; what an answer holds is the server's promise (A62), once it is one of ours.
  return Object.fromEntries(entries) as ApiClient;
}

interface AnyInput extends CallExtras {
  readonly id?: string;
  readonly number?: number;
  readonly forgeToken?: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
}

async function exchange(
  options: ApiClientOptions,
  id: ClientRouteId,
  address: string,
  input: AnyInput,
): Promise<unknown> {
  const [method = '', path = '', told = ''] = address.split(' ');
  const token = await options.readToken();
  const { signal, body, forgeToken } = input;
  const send = options.fetch ?? globalThis.fetch;
  let response: Response;
  try {
    response = await send(`${options.baseUrl}${fillPath(path, input)}`, {
      method,
      // The other address would get the forge token of a person: a client drops no header but the credential.
      redirect: 'manual',
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(forgeToken === undefined ? {} : { 'x-forge-token': forgeToken }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (isRedirect(response)) throw new ApiError('unexpected', SENT_ELSEWHERE, response.status, false);
    const value = readAnswer(response, await response.text(), told);
    if (options.isAnswer?.(id, value) === false) throw unexpected(response.status);
    return value;
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted === true) throw error;
    throw new ApiError('unreachable', 'The service could not be reached.', 0, true);
  }
}

const SENT_ELSEWHERE =
  'The server sends this call to another address, which is not followed, because a token would go along.';

/** A browser tells no status of one. */
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

function fillPath(path: string, input: AnyInput): string {
  const filled = path
    .replace('{id}', encodeURIComponent(input.id ?? ''))
    .replace('{number}', String(input.number ?? ''));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

function readAnswer(response: Response, text: string, told: string): unknown {
  const { status } = response;
  if (status === 204 && told === 'none') return undefined;
  const media = response.headers.get('content-type') ?? '';
  if (!media.startsWith('application/json')) {
    if (response.ok && told.includes('/') && media.startsWith(told)) return text;
    throw unexpected(status);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unexpected(status);
  }
  const error = isRecord(value) ? value.error : undefined;
  if (!isRecord(error)) {
    const isTold = told === '' ? isRecord(value) : told === 'list' && Array.isArray(value);
    if (isTold && (response.ok || isListedFailure(value))) return value;
    throw unexpected(status);
  }
  const { code, message, retryable, ...fields } = error;
  const after = Number(response.headers.get('retry-after') ?? Number.NaN);
  throw new ApiError(
    // A code that a newer server knows is passed on as it is; clients compare and else show the message.
    (typeof code === 'string' ? code : 'unexpected') as ApiErrorCode,
    typeof message === 'string' ? message : '',
    status,
    retryable === true,
    fields,
    Number.isFinite(after) ? after : null,
  );
}

/** Failures with a body of their own: `{ok: false, dependency}` and `{reconcile, log_tail}`. */
function isListedFailure(value: unknown): boolean {
  return isRecord(value) && (value.ok === false || isRecord(value.reconcile));
}

function unexpected(status: number): ApiError {
  return new ApiError('unexpected', 'The answer is not one of the service.', status, status >= 500);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
