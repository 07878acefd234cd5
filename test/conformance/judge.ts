import { ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import endpoints from '../contract/api/endpoints.json';
import type { Expected } from './generate.ts';
import { answerShape, errorShape, findFault } from './shapes.ts';

export interface SeenAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Of the `Allow` header. */
  readonly allow?: string | undefined;
  /** Of the `Retry-After` header. */
  readonly retryAfter?: string | undefined;
}

/** The part of the request that its answer is judged by. */
export interface Asked {
  /** The route that the gateway chooses; null for none. */
  readonly route: RouteSpec | null;
  readonly method?: string;
  readonly path?: string;
  readonly expected?: Expected;
}

interface Listed {
  readonly status: number;
  readonly code?: string;
}

/** `404 not_found` or `200` by `GET /path/{id}`: from the contract's list, not from the table that is being judged. */
const LISTED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  endpoints.map(({ method, path, responses }) => [
    `${method} ${path.replaceAll(/<(id|number)>/g, '{$1}')}`,
    new Set(
      (responses as readonly Listed[]).map(({ status, code }) =>
        code === undefined ? String(status) : `${status} ${code}`,
      ),
    ),
  ]),
);

/** The listing has no other method, and answers 404 by every one that it does not take. */
const METHODS = endpoints
  .filter(
    ({ path }) => path.startsWith('/') && path !== '/api/v1/forge/repos' && !path.startsWith('/internal'),
  )
  .map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll(/<(id|number)>/g, '[^/]+')}$`),
  }));

/** Faults of our own side, which no request may cause by itself. */
const NEVER: ReadonlySet<string> = new Set([
  'internal_error',
  'db_error',
  'auth_unavailable',
  'billing_unavailable',
  'failed_to_create_connection',
  'connection_rotation_failed',
  'decryption_error',
  'queue_lock_failed',
  'realtime_unavailable',
] satisfies ErrorCode[]);

/** Refusals of a body's form, and those that the state of things gives to a body that is well formed. */
const FORM: ReadonlySet<string> = new Set([
  'invalid_body',
  'missing_fields',
  'invalid_field',
  'invalid_tier',
]);
/**
 * Fields whose value is also checked against the world: the bot must be the token's, the forge must be reachable and must
 * have the repository (decision 0114).
 */
const WORLDLY: ReadonlySet<string> = new Set(['bot_login', 'instance_url', 'token', 'repo_slug']);

/** The first breach of the contract in an answer; null when there is none. */
export function judgeAnswer(asked: Asked, answer: SeenAnswer): string | null {
  const { route, expected = null } = asked;
  const body = parse(answer.text);
  const code = codeOf(body);
  if (route === null) return judgeUnrouted(asked, answer, code);
  const fault =
    code === undefined ? judgeReply(route, answer, body) : judgeFailure(route, answer, code, body);
  return fault ?? judgeExpected(expected, answer.status, code, body);
}

/** 405 with the methods that are listed for the path, 404 where none is. */
function judgeUnrouted(asked: Asked, answer: SeenAnswer, code: string | undefined): string | null {
  const allow = METHODS.filter(({ pattern }) => pattern.test(asked.path ?? '')).map(({ method }) => method);
  const told = (answer.allow ?? '').split(', ').sort().join(', ');
  const expected = allow.length === 0 ? [404, ''] : [405, allow.sort().join(', ')];
  // A HEAD has no body to judge.
  const named = asked.method === 'HEAD' || code === (allow.length === 0 ? 'not_found' : 'method_not_allowed');
  return answer.status === expected[0] && told === expected[1] && named
    ? null
    : `unknown route answered ${answer.status} ${code} ${told}`;
}

function isListed(route: RouteSpec, status: number, code?: string): boolean {
  const listed = LISTED.get(`${route.method} ${route.path}`);
  return listed?.has(code === undefined ? String(status) : `${status} ${code}`) === true;
}

function judgeReply(route: RouteSpec, answer: SeenAnswer, body: unknown): string | null {
  const { status, text, contentType } = answer;
  const shape = route.replies[status];
  if (shape === undefined || !isListed(route, status)) return `status ${status} is not listed`;
  // Both dependencies answer in this run.
  if (status === 503) return 'a fault of our own: unhealthy';
  if (shape === null) return text === '' ? null : 'a body where there is none';
  if ('mediaType' in shape) return contentType === shape.mediaType ? null : `type ${contentType}`;
  if (!contentType.startsWith('application/json')) return `type ${contentType}`;
  const listed = answerShape(`${route.method} ${route.path}`, status);
  if (listed === undefined) return `${status} has no fields in the contract's list`;
  const fault = findFault(listed, body);
  if (fault !== null) return `contract: ${fault}`;
  const parsed = shape.safeParse(body);
  if (!parsed.success) return `schema: ${JSON.stringify(parsed.error.issues[0])}`;
  // A field of the contract that the schema does not name would be missing from what it let through.
  return JSON.stringify(sorted(parsed.data)) === JSON.stringify(sorted(body))
    ? null
    : 'fields beyond the schema';
}

function judgeFailure(route: RouteSpec, answer: SeenAnswer, code: string, body: unknown): string | null {
  if (NEVER.has(code)) return `a fault of our own: ${code}`;
  if (!isListed(route, answer.status, code)) return `${answer.status} ${code} is not listed`;
  const shape = ERROR_TABLE[code as ErrorCode];
  if (!answer.contentType.startsWith('application/json')) return `type ${answer.contentType}`;
  const error = (body as { error: Readonly<Record<string, unknown>> }).error;
  if (Object.keys(body as object).length !== 1) return 'fields beside the envelope';
  const fault = findFault(errorShape(code), error, 'error');
  if (fault !== null) return `contract: ${fault}`;
  if (error.field === '') return `${code} names no field`;
  if (code === 'rate_limited' && !(Number(answer.retryAfter) > 0)) return 'no time to come back at';
  return (error.retryable === true) === shape.retryable ? null : 'retryable is not the table’s';
}

function judgeExpected(
  expected: Expected,
  status: number,
  code: string | undefined,
  body: unknown,
): string | null {
  if (expected === 'unauthenticated') return status === 401 ? null : `no credential, but ${status} ${code}`;
  if (expected === 'forbidden') return status >= 400 ? null : `a token went beyond its scope: ${status}`;
  if (expected === 'refused') {
    return status === 400 || status === 429 ? null : `a wrong body was taken: ${status} ${code ?? ''}`;
  }
  if (expected !== 'accepted' || code === undefined || !FORM.has(code)) return null;
  const { field } = (body as { error: { field?: string } }).error;
  return field !== undefined && WORLDLY.has(field)
    ? null
    : `a right body was refused: ${code} ${field ?? ''}`;
}

function codeOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
