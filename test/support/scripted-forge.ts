import type { HttpRequest, HttpResponse, HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { HttpSendError, type HttpSendErrorKind } from '#core/adapters/http-guard/http-send.ts';

export interface ScriptedAnswer {
  readonly status?: number;
  /** Sent as JSON. Undefined with `text` absent: an empty body. */
  readonly json?: unknown;
  /** Sent as it stands. */
  readonly text?: string;
  /** @default application/json */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SeenRequest {
  readonly method: string;
  /** Path below `/api/v1/repos/acme/app`, still encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly headers: HttpRequest['headers'];
}

/** A forge that answers by a function: no socket, no time. Records what it was asked. */
export function scriptForge(
  respond: (request: SeenRequest, nth: number) => ScriptedAnswer | HttpSendErrorKind,
): { readonly send: HttpSend; readonly seen: SeenRequest[] } {
  const seen: SeenRequest[] = [];
  const send: HttpSend = async (request) => {
    const url = new URL(request.url);
    // It keeps caches out, and is no part of the question.
    url.searchParams.delete('_');
    const entry = {
      method: request.method,
      path: url.pathname.replace(/^.*\/api\/v1(?:\/repos\/acme\/app)?/, ''),
      query: Object.fromEntries(url.searchParams),
      body: request.body === undefined ? undefined : JSON.parse(request.body),
      headers: request.headers,
    };
    seen.push(entry);
    const answer = respond(entry, seen.length);
    if (typeof answer === 'string') throw new HttpSendError(answer);
    return toResponse(answer);
  };
  return { send, seen };
}

function toResponse(answer: ScriptedAnswer): HttpResponse {
  const text = answer.text ?? (answer.json === undefined ? '' : JSON.stringify(answer.json));
  return {
    status: answer.status ?? 200,
    headers: { 'content-type': answer.type ?? 'application/json;charset=utf-8', ...answer.headers },
    body: Buffer.from(text),
  };
}

/** A commit id that says in its digits which one it is. */
export function sha(n: number): string {
  return n.toString(16).padStart(40, '0');
}
