import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type Invocable,
  InvocationError,
  isObject,
  type Json,
  type JsonObject,
  type LogSink,
} from '../../ports/invocable.ts';
import { HeldBodies, type HeldBody } from './held-bodies.ts';

export interface HttpRoute {
  /** `POST /path/{id}`, `ANY /path` or `$default`. */
  readonly key: string;
  readonly target: Invocable;
}

/** Limits and answers of the gateway itself; its bodies have their own shape, not ours. */
const BODY_BYTES_MAX = 10 * 1024 * 1024;
/** Bytes of all bodies of this process: a fraction of the memory that it is given. */
const BODIES_BYTES_MAX = 64 * 1024 * 1024;
const INTEGRATION_TIMEOUT_MS = 30_000;
/**
 * How long a connection stays open between two requests, in ms: longer than a proxy in front keeps it (Caddy for two
 * minutes). With the five seconds of Node, the proxy sends on a connection that is just being closed, and answers 502.
 */
const KEEP_ALIVE_MS = 150_000;
const TEXT_TYPES = /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded|.+\+(json|xml)))/i;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly held: HeldBody;
}

interface Match {
  readonly route: HttpRoute;
  readonly pathParameters: Readonly<Record<string, string>>;
}

interface CompiledRoute {
  readonly route: HttpRoute;
  readonly method: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** Order of matching: literal segments first, then parameters, then greedy ones, of those the longest prefix first. */
  readonly rank: number;
}

function compileRoute(route: HttpRoute): CompiledRoute {
  if (route.key === '$default') return { route, method: 'ANY', pattern: /^/, names: [], rank: 1e6 };
  const [method = '', path = ''] = route.key.split(' ');
  const names: string[] = [];
  let rank = method === 'ANY' ? 1 : 0;
  const source = path.replace(
    /\{([^}+]+)(\+?)\}|[^{}]+/g,
    (text, name: string | undefined, greedy: string, at: number) => {
      if (name === undefined) return text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
      names.push(name);
      rank += greedy === '+' ? 1000 - at : 10;
      return greedy === '+' ? '(.+)' : '([^/]+)';
    },
  );
  return { route, method, pattern: new RegExp(`^${source}$`), names, rank };
}

function findRoute(routes: readonly CompiledRoute[], method: string, path: string): Match | null {
  for (const { route, method: allowed, pattern, names } of routes) {
    if (allowed !== 'ANY' && allowed !== method) continue;
    const found = pattern.exec(path);
    if (found === null) continue;
    return {
      route,
      pathParameters: Object.fromEntries(names.map((name, index) => [name, decode(found[index + 1] ?? '')])),
    };
  }
  return null;
}

/** Decodes a segment; an invalid escape stays as it is. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * The gateway's HTTP API on this machine: routes, payload format 2.0, and the gateway's own errors. `addressOf` reads
 * the caller's address, where a proxy stands in front.
 * @default the peer
 */
export function createHttpFront(
  routes: readonly HttpRoute[],
  log: LogSink,
  addressOf: (request: IncomingMessage) => string = peerOf,
): Server {
  const compiled = routes.map(compileRoute).sort((a, b) => a.rank - b.rank);
  const bodies = new HeldBodies(BODIES_BYTES_MAX);
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const held = bodies.open();
    answer(compiled, { request, response, held }, addressOf(request))
      .catch((error: unknown) => {
        log('http', `${String(error)}\n`);
        if (response.headersSent) response.destroy();
        else sendOwn(response, 500, 'Internal Server Error');
      })
      .finally(() => held.end());
  });
}

async function answer(
  routes: readonly CompiledRoute[],
  { request, response, held }: Exchange,
  sourceIp: string,
): Promise<void> {
  const url = new URL(`http://gateway${request.url ?? '/'}`);
  const match = findRoute(routes, request.method ?? 'GET', url.pathname);
  const body = await readBody(request, held);
  if (body === 'too large') return sendOwn(response, 413, 'Request Entity Too Large');
  if (body === 'given up') return sendOwn(response, 503, 'Service Unavailable');
  if (match === null) return sendOwn(response, 404, 'Not Found');
  const result = await Promise.race([
    match.route.target.invoke(toEvent(request, url, match, body, sourceIp)).catch((error: unknown) => {
      if (error instanceof InvocationError) return null;
      throw error;
    }),
    timeOut(),
  ]);
  if (result === 'timed out') return sendOwn(response, 503, 'Service Unavailable');
  if (!isObject(result)) return sendOwn(response, 500, 'Internal Server Error');
  sendResult(response, result);
}

function timeOut(): Promise<'timed out'> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('timed out'), INTEGRATION_TIMEOUT_MS).unref();
  });
}

/** Reads a body, always to its end: a client that still sends sees no answer. */
async function readBody(
  request: IncomingMessage,
  held: HeldBody,
): Promise<Buffer | 'too large' | 'given up'> {
  let size = 0;
  for await (const chunk of request) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size <= BODY_BYTES_MAX) held.keep(bytes);
    else held.end();
  }
  if (size > BODY_BYTES_MAX) return 'too large';
  return held.take() ?? 'given up';
}

export function peerOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? '127.0.0.1';
}

function toEvent(request: IncomingMessage, url: URL, match: Match, body: Buffer, sourceIp: string): Json {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name === 'cookie') continue;
    headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  const cookies = (request.headers.cookie ?? '').split(/; */).filter((cookie) => cookie !== '');
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    query[name] = query[name] === undefined ? value : `${query[name]},${value}`;
  }
  // Text that is not UTF-8 would not survive as a string, and a signature is over the bytes.
  const isText =
    TEXT_TYPES.test(headers['content-type'] ?? '') && Buffer.from(body.toString('utf8')).equals(body);
  const now = new Date();
  return {
    version: '2.0',
    routeKey: match.route.key,
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers,
    ...(cookies.length > 0 ? { cookies } : {}),
    ...(Object.keys(query).length > 0 ? { queryStringParameters: query } : {}),
    ...(Object.keys(match.pathParameters).length > 0 ? { pathParameters: match.pathParameters } : {}),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: headers.host ?? 'localhost',
      domainPrefix: 'local',
      http: {
        method: request.method ?? 'GET',
        path: url.pathname,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: match.route.key,
      stage: '$default',
      time: now.toISOString(),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 ? { body: body.toString(isText ? 'utf8' : 'base64') } : {}),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

function sendOwn(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ message }));
}

function sendResult(response: ServerResponse, result: JsonObject): void {
  const headers = isObject(result.headers) ? result.headers : {};
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  if (Array.isArray(result.cookies)) response.setHeader('set-cookie', result.cookies.map(String));
  const body = typeof result.body === 'string' ? result.body : '';
  response.writeHead(Number(result.statusCode ?? 200));
  response.end(result.isBase64Encoded === true ? Buffer.from(body, 'base64') : body);
}
