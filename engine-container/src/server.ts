import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RECONCILE_PATH } from '#core/contracts/internal/reconcile.ts';
import { RECONCILE_BODY_BYTES_MAX } from '#core/domain/limits.ts';
import {
  CONTAINER_AUTH_HEADER,
  createStampLedger,
  type StampLedger,
  verifyContainerCall,
} from '#core/http/container-auth.ts';
import { openToken } from '#core/http/sealed-token.ts';
import type { Clock, Log, ReconcileOrder, ReconcileRequest } from '#core/ports/system.ts';
import type { Secret } from '#core/secret.ts';
import { decodeReconcileBody } from './decode-request.ts';

export interface EngineServerDeps {
  /** Accepted secrets of `X-Container-Auth`; an empty list refuses every request. */
  readonly secrets: readonly Secret<string>[];
  readonly clock: Clock;
  readonly log: Log;
  /** Called exactly once per accepted request (A52). */
  readonly runReconcile: (request: ReconcileRequest, order: ReconcileOrder) => Promise<'ok' | 'failed'>;
}

const HEALTH_PATH = '/healthz';
/** A client that is slower than this with one kibibyte is not our worker. */
const REQUEST_TIMEOUT_MS = 10_000;

const OK = JSON.stringify({ status: 'ok' });
/** Byte-identical whatever went wrong (contract, Internal reconcile endpoint). */
const FAILED = JSON.stringify({ status: 'error', errors: ['reconciliation failed'] });

function refusal(reason: string): string {
  return JSON.stringify({ status: 'error', errors: [reason] });
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Null when the body is larger than allowed; node discards the rest, so that the client can read the answer. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > RECONCILE_BODY_BYTES_MAX) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

async function answerReconcile(
  deps: EngineServerDeps,
  ledger: StampLedger,
  request: IncomingMessage,
): Promise<Answer> {
  const body = await readBody(request);
  if (body === null) return { status: 400, body: refusal('body is too large') };
  const header = request.headers[CONTAINER_AUTH_HEADER];
  const now = deps.clock.now();
  const stamp = verifyContainerCall(
    deps.secrets,
    typeof header === 'string' ? header : undefined,
    { method: 'POST', path: RECONCILE_PATH, body },
    now,
  );
  if (stamp === null) return { status: 401, body: refusal('not authorized') };
  const decoded = decodeReconcileBody(body);
  if (decoded.kind === 'malformed') return { status: 400, body: refusal(decoded.reason) };
  const token = openToken(deps.secrets, decoded.request.token, decoded.request);
  if (token === null) return { status: 400, body: refusal('invalid field: token') };
  if (!ledger.claim(stamp, now)) return { status: 401, body: refusal('not authorized') };
  try {
    const outcome = await deps.runReconcile(
      { ...decoded.request, token },
      { fence: stamp.fence, command: stamp.command },
    );
    return outcome === 'ok' ? { status: 200, body: OK } : { status: 500, body: FAILED };
  } catch (error) {
    // The name only: a message may hold what the forge or the request said.
    deps.log.error('reconcile threw', { error: error instanceof Error ? error.name : 'not an error' });
    return { status: 500, body: FAILED };
  }
}

async function route(deps: EngineServerDeps, ledger: StampLedger, request: IncomingMessage): Promise<Answer> {
  if (request.url === HEALTH_PATH) {
    return request.method === 'GET'
      ? { status: 200, body: OK }
      : { status: 405, body: refusal('method not allowed'), headers: { allow: 'GET' } };
  }
  if (request.url !== RECONCILE_PATH) return { status: 404, body: refusal('not found') };
  if (request.method !== 'POST') {
    return { status: 405, body: refusal('method not allowed'), headers: { allow: 'POST' } };
  }
  return answerReconcile(deps, ledger, request);
}

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(answer.body),
    ...answer.headers,
  });
  response.end(answer.body);
}

/** Bytes that node's parser refuses never become a request; it still gets JSON. */
function sendRaw(socket: Duplex, statusLine: string, reason: string): void {
  if (!socket.writable) return;
  const body = refusal(reason);
  socket.end(
    `HTTP/1.1 ${statusLine}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** The engine's only door: POST /internal/reconcile and GET /healthz, always JSON. The caller listens and closes. */
export function createEngineServer(deps: EngineServerDeps): Server {
  const ledger = createStampLedger();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    route(deps, ledger, request)
      .then((answer) => send(response, answer))
      .catch(() => {
        // Only reading the body can fail here: the client has gone in the middle of it.
        response.destroy();
      });
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, serve);
  server.on('checkExpectation', serve);
  server.on('clientError', (_error, socket) => sendRaw(socket, '400 Bad Request', 'malformed request'));
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    if (request.url === RECONCILE_PATH) sendRaw(socket, '405 Method Not Allowed', 'method not allowed');
    else sendRaw(socket, '404 Not Found', 'not found');
  });
  return server;
}
