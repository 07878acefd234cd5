import { AppError, ERROR_TABLE, type ErrorExtras, type ErrorShape } from '../contracts/errors.ts';

/** An HTTP response as API Gateway's payload format 2.0 wants it. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
}

const COMMON_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

export function respondJson(statusCode: number, value: unknown): HttpResponse {
  return { statusCode, headers: COMMON_HEADERS, body: JSON.stringify(value) };
}

export function respondText(statusCode: number, mediaType: string, body: string): HttpResponse {
  return { statusCode, headers: { ...COMMON_HEADERS, 'content-type': mediaType }, body };
}

export function respondEmpty(statusCode: number): HttpResponse {
  const { 'content-type': _none, ...headers } = COMMON_HEADERS;
  return { statusCode, headers, body: '' };
}

function respondAppError(error: AppError): HttpResponse {
  const { status, retryable, message }: ErrorShape = ERROR_TABLE[error.code];
  const extras: ErrorExtras = error.extras;
  const response = respondJson(status, {
    error: {
      code: error.code,
      ...(message === '' ? {} : { message: extras.message ?? message }),
      ...(retryable ? { retryable: true } : {}),
      ...(extras.field === undefined ? {} : { field: extras.field }),
      ...(extras.portal === undefined ? {} : { portal: extras.portal }),
      ...extras.more,
    },
  });
  const headers = {
    ...response.headers,
    ...(extras.retryAfterSeconds === undefined ? {} : { 'retry-after': String(extras.retryAfterSeconds) }),
    ...(extras.allow === undefined ? {} : { allow: extras.allow.join(', ') }),
  };
  return { ...response, headers };
}

/**
 * The only place that writes an error body. Whatever is not an `AppError` becomes one generic 500; `report` hears of it,
 * the client does not (contract, Errors, rule 1).
 */
export function respondError(error: unknown, report: (error: unknown) => void): HttpResponse {
  if (error instanceof AppError) return respondAppError(error);
  report(error);
  return respondAppError(new AppError('internal_error'));
}
