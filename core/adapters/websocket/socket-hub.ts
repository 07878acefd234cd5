import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { type Invocable, InvocationError, isObject, type Json, type LogSink } from '../../ports/invocable.ts';
import type { SocketSender } from '../../ports/realtime.ts';
import { peerOf } from '../http-server/http-front.ts';

/** The three routes of a WebSocket API. */
export interface SocketRoutes {
  readonly connect: Invocable;
  readonly disconnect: Invocable;
  readonly fallback: Invocable;
  /** Whether the fallback's answer is sent to the client. */
  readonly answers: boolean;
  readonly stage: string;
}

interface OpenSocket {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly connectedAt: number;
  idle: NodeJS.Timeout;
  /** Messages of the client in the current window. */
  heard: { readonly since: number; messages: number };
}

/** Limits of the gateway. */
const IDLE_MS = 10 * 60_000;
const LIFETIME_MS = 2 * 60 * 60_000;
const MESSAGE_BYTES_MAX = 128 * 1024;
const FRAME_BYTES_MAX = 32 * 1024;
/**
 * Messages of one client in a window. Clients send one in five minutes; one that sends without end, and reads no
 * answer, would fill the memory.
 */
const MESSAGES_PER_WINDOW_MAX = 50;
const WINDOW_MS = 10_000;

/**
 * The WebSocket side of the gateway: sockets of one API, their lifecycle events in the gateway's own shape, and the
 * management API by which functions post to them. A socket in its handshake is gone to that API, as it is in the cloud.
 */
export class SocketHub {
  readonly #log: LogSink;
  readonly #addressOf: (request: IncomingMessage) => string;
  readonly #open = new Map<string, OpenSocket>();
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  readonly #management = createServer((request, response) => this.#manage(request, response));
  #routes: SocketRoutes | null = null;

  /** `addressOf`: who calls, where a proxy stands in front; by default the peer. */
  constructor(log: LogSink, addressOf: (request: IncomingMessage) => string = peerOf) {
    this.#log = log;
    this.#addressOf = addressOf;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Starts the management API; its address is what `AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI` names. */
  async start(): Promise<string> {
    await new Promise<void>((done) => this.#management.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#management.address() as AddressInfo).port}`;
  }

  serve(routes: SocketRoutes): void {
    this.#routes = routes;
  }

  /** The management API within this process. */
  sender(): SocketSender {
    return {
      post: async (socketId, message) => {
        const open = this.#open.get(socketId);
        if (open === undefined || open.socket.readyState !== open.socket.OPEN) return 'gone';
        this.#touch(open);
        open.socket.send(message);
        return 'sent';
      },
      close: async (socketId) => this.#open.get(socketId)?.socket.close(1000, 'Connection Closed Normally'),
    };
  }

  /** Cuts the connection of every client as a network does, without a closing frame. */
  cutAll(): void {
    for (const { socket } of this.#open.values()) socket.terminate();
  }

  async stop(): Promise<void> {
    this.#routes = null;
    this.cutAll();
    this.#server.close();
    await new Promise<void>((done) => {
      this.#management.close(() => done());
      this.#management.closeAllConnections();
    });
  }

  /** Handler of the HTTP server's `upgrade` event, for the path of the API only. */
  upgrade(request: IncomingMessage, line: Duplex, head: Buffer): void {
    line.on('error', () => line.destroy());
    this.#accept(request, line, head).catch((error: unknown) => {
      this.#log('socket', `${String(error)}\n`);
      refuse(line, 500, '');
    });
  }

  async #accept(request: IncomingMessage, line: Duplex, head: Buffer): Promise<void> {
    const routes = this.#routes;
    if (routes === null) return refuse(line, 404, '');
    const id = `${randomBytes(11).toString('base64').slice(0, 15)}=`;
    const connectedAt = Date.now();
    const event = {
      ...this.#baseEvent(routes, request, id, connectedAt, 'CONNECT'),
      ...readRequest(request),
    };
    const answer = await invokeOrNull(routes.connect, event);
    const status = isObject(answer) ? Number(answer.statusCode ?? 200) : 502;
    if (status < 200 || status >= 300) {
      const message = STATUS_CODES[status] ?? 'Error';
      return refuse(line, status, JSON.stringify({ message, connectionId: id, requestId: randomUUID() }));
    }
    this.#server.handleUpgrade(request, line, head, (socket) => {
      const heard = { since: performance.now(), messages: 0 };
      this.#keep(routes, id, { socket, request, connectedAt, idle: this.#idleTimer(socket), heard });
    });
  }

  #keep(routes: SocketRoutes, id: string, open: OpenSocket): void {
    const { socket } = open;
    this.#open.set(id, open);
    const lifetime = setTimeout(() => socket.close(1001, 'Going away'), LIFETIME_MS).unref();
    socket.on('error', () => socket.terminate());
    socket.on('message', (data) => {
      if (socket.readyState !== socket.OPEN) return;
      if (isTooMuch(open)) return socket.terminate();
      void this.#answer(routes, id, open, data);
    });
    socket.on('close', (code) => {
      clearTimeout(lifetime);
      clearTimeout(open.idle);
      this.#open.delete(id);
      if (this.#routes === null) return;
      const event = this.#baseEvent(routes, open.request, id, open.connectedAt, 'DISCONNECT', {
        disconnectStatusCode: code,
        disconnectReason: '',
      });
      void invokeOrNull(routes.disconnect, event);
    });
  }

  async #answer(routes: SocketRoutes, id: string, open: OpenSocket, data: RawData): Promise<void> {
    this.#touch(open);
    const event = {
      ...this.#baseEvent(routes, open.request, id, open.connectedAt, 'MESSAGE', { messageId: randomUUID() }),
      body: String(data),
    };
    const answer = await invokeOrNull(routes.fallback, event);
    if (routes.answers && isObject(answer) && typeof answer.body === 'string') open.socket.send(answer.body);
  }

  #idleTimer(socket: WebSocket): NodeJS.Timeout {
    return setTimeout(() => socket.close(1001, 'Going away'), IDLE_MS).unref();
  }

  #touch(open: OpenSocket): void {
    clearTimeout(open.idle);
    open.idle = this.#idleTimer(open.socket);
  }

  #baseEvent(
    routes: SocketRoutes,
    request: IncomingMessage,
    connectionId: string,
    connectedAt: number,
    eventType: 'CONNECT' | 'MESSAGE' | 'DISCONNECT',
    more: Readonly<Record<string, Json>> = {},
  ): { readonly [key: string]: Json } {
    const requestId = randomUUID();
    const now = new Date();
    const routeKey = { CONNECT: '$connect', MESSAGE: '$default', DISCONNECT: '$disconnect' }[eventType];
    return {
      requestContext: {
        routeKey,
        eventType,
        requestId,
        extendedRequestId: requestId,
        connectionId,
        connectedAt,
        messageDirection: 'IN',
        stage: routes.stage,
        apiId: 'local',
        ...more,
        requestTime: now.toISOString(),
        requestTimeEpoch: now.getTime(),
        domainName: request.headers.host ?? 'localhost',
        identity: {
          userAgent: request.headers['user-agent'] ?? '',
          sourceIp: this.#addressOf(request),
        },
      },
      isBase64Encoded: false,
    };
  }

  #manage(request: IncomingMessage, response: ServerResponse): void {
    const id = /\/@connections\/([^/?]+)$/.exec(request.url ?? '')?.[1];
    const open = id === undefined ? undefined : this.#open.get(decodeURIComponent(id));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (id === undefined) return sendError(response, 403, 'ForbiddenException');
      if (open === undefined || open.socket.readyState !== open.socket.OPEN) {
        return sendError(response, 410, 'GoneException');
      }
      const body = Buffer.concat(chunks);
      if (body.length > MESSAGE_BYTES_MAX) return sendError(response, 413, 'PayloadTooLargeException');
      switch (request.method) {
        case 'POST':
          this.#touch(open);
          open.socket.send(body.toString('utf8'));
          return void response.writeHead(200).end();
        case 'DELETE':
          open.socket.close(1000, 'Connection Closed Normally');
          return void response.writeHead(204).end();
        default:
          return sendError(response, 403, 'ForbiddenException');
      }
    });
  }
}

function isTooMuch(open: OpenSocket): boolean {
  const now = performance.now();
  if (now - open.heard.since > WINDOW_MS) open.heard = { since: now, messages: 0 };
  open.heard.messages += 1;
  return open.heard.messages > MESSAGES_PER_WINDOW_MAX;
}

function sendError(response: ServerResponse, status: number, type: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-ErrorType': type });
  response.end('{}');
}

/**
 * Headers and query of a request: header names as the client spelled them, the query as the gateway splits it; absent
 * when empty.
 */
function readRequest(request: IncomingMessage): { readonly [key: string]: Json } {
  const all: Record<string, string[]> = {};
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? '';
    all[name] = [...(all[name] ?? []), request.rawHeaders[at + 1] ?? ''];
  }
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URL(`http://gateway${request.url ?? '/'}`).searchParams) {
    query[name] = [...(query[name] ?? []), value];
  }
  return {
    headers: lastOf(all),
    multiValueHeaders: all,
    ...(Object.keys(query).length === 0
      ? {}
      : { queryStringParameters: lastOf(query), multiValueQueryStringParameters: query }),
  };
}

function lastOf(values: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, each]) => [name, each.at(-1) ?? '']));
}

async function invokeOrNull(target: Invocable, event: Json): Promise<Json> {
  try {
    return await target.invoke(event);
  } catch (error) {
    if (error instanceof InvocationError) return null;
    throw error;
  }
}

function refuse(line: Duplex, status: number, body: string): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  line.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
