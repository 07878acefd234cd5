import { ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import type { RouteSpec } from '#core/contracts/route-spec.ts';
import { errorsOf } from '#core/contracts/route-spec.ts';

export interface SeenAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Faults of our own side, which no request may cause by itself. */
const NEVER: ReadonlySet<ErrorCode> = new Set([
  'internal_error',
  'db_error',
  'auth_unavailable',
  'billing_unavailable',
  'failed_to_create_connection',
  'connection_rotation_failed',
  'decryption_error',
  'queue_lock_failed',
  'realtime_unavailable',
]);

/** What is wrong with an answer by the table; null when nothing is. `route` null: no route matches. */
export function judgeAnswer(route: RouteSpec | null, answer: SeenAnswer): string | null {
  const { status, text } = answer;
  const body = parse(text);
  const code = codeOf(body);
  if (route === null)
    return status === 404 && code === 'not_found' ? null : `unknown route answered ${status} ${code}`;
  if (code !== undefined) return judgeFailure(route, answer, code, body);
  const shape = route.replies[status];
  if (shape === undefined) return `status ${status} is not listed`;
  if (shape === null) return text === '' ? null : 'a body where there is none';
  if ('mediaType' in shape)
    return answer.contentType === shape.mediaType ? null : `type ${answer.contentType}`;
  if (!answer.contentType.startsWith('application/json')) return `type ${answer.contentType}`;
  const parsed = shape.safeParse(body);
  if (!parsed.success) return `schema: ${JSON.stringify(parsed.error.issues[0])}`;
  // A field that the schema does not name would be missing from what it let through.
  return JSON.stringify(sorted(parsed.data)) === JSON.stringify(sorted(body))
    ? null
    : 'fields beyond the schema';
}

function judgeFailure(route: RouteSpec, answer: SeenAnswer, code: string, body: unknown): string | null {
  const known = errorsOf(route).find((each) => each === code);
  if (known === undefined) return `code ${code} is not listed`;
  const shape = ERROR_TABLE[known];
  if (shape.status !== answer.status) return `code ${code} with status ${answer.status}`;
  if (NEVER.has(known)) return `a fault of our own: ${code}`;
  if (!answer.contentType.startsWith('application/json')) return `type ${answer.contentType}`;
  const error = (body as { error: Readonly<Record<string, unknown>> }).error;
  if (Object.keys(body as object).length !== 1) return 'fields beside the envelope';
  if (code === 'invalid_field' && typeof error.field !== 'string') return 'invalid_field names no field';
  if (code === 'missing_fields' && typeof error.field !== 'string') return 'missing_fields names no field';
  return (error.retryable === true) === shape.retryable ? null : 'retryable is not the table’s';
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
