import type { StringCut } from './cut-strings.ts';

/** One HTTP exchange: nothing is followed, decoded or retried. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Limit for the whole exchange, name resolution and body included. */
  readonly timeoutMs: number;
  /** Limit of the body in bytes. 0: no body is wanted, and the exchange ends with the head of the answer. */
  readonly bodyBytesMax: number;
  /** How strings of a JSON answer are cut; what is cut off does not count for `bodyBytesMax`. */
  readonly cut?: StringCut;
}

export interface HttpResponse {
  readonly status: number;
  /** Headers by name in lower case; repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Bytes of the body as it was sent, what was cut off included. @default those of `body` */
  readonly sentBytes?: number;
}

/** Sends one request. It is a plain function, so that a test on virtual time needs no socket. Throws `HttpSendError`. */
export type HttpSend = (request: HttpRequest) => Promise<HttpResponse>;

const HTTP_SEND_ERROR_KINDS = [
  /** The guard forbids the target; nothing was sent (A98). */
  'refused',
  /** No connection came about; nothing was sent. */
  'connect',
  /** The exchange did not end in time; the other side may have acted. */
  'timeout',
  /** The connection ended or the answer made no sense; the other side may have acted. */
  'broken',
  /** The answer is larger than asked for; the other side has acted. */
  'too_large',
  /** This process has read as much from there as it may for now; nothing was sent. */
  'withheld',
] as const;
export type HttpSendErrorKind = (typeof HTTP_SEND_ERROR_KINDS)[number];

/**
 * Error of an exchange. It holds no URL, header, address or cause, because an upstream's text in an error would end in
 * a log (A95).
 */
export class HttpSendError extends Error {
  override readonly name = 'HttpSendError';
  /** `sentBytes`: bytes of the body that had come by then. */
  constructor(
    readonly kind: HttpSendErrorKind,
    readonly sentBytes = 0,
  ) {
    super(`http: ${kind}`);
  }
}
