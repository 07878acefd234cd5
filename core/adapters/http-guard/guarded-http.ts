import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { createSecureContext, rootCertificates } from 'node:tls';
import { StringCutter } from './cut-strings.ts';
import { type HttpRequest, type HttpResponse, type HttpSend, HttpSendError } from './http-send.ts';
import { checkOutboundUrl, compileOutboundPolicy, type OutboundPolicy } from './outbound-url.ts';
import { createGuardedLookup, type ResolveHost, resolverFor } from './resolve.ts';

export interface GuardedHttpConfig extends OutboundPolicy {
  /** PEM of a private authority, trusted for the hosts of `allowHosts` only. @default none */
  readonly caPem?: string;
  /** Resolves names. @default the system's resolver for `allowHosts`, and the DNS servers for every other name */
  readonly resolve?: ResolveHost;
}

export interface GuardedHttp {
  readonly send: HttpSend;
  /** Ends idle connections. */
  close(): void;
}

/** Sockets to one host at a time; one reconcile reads little in parallel. */
const SOCKETS_PER_HOST_MAX = 8;
const IDLE_SOCKETS_MAX = 32;
/** Life of an idle connection, in ms: less than the 5 s after which common servers hang up. */
const IDLE_SOCKET_MS = 4_000;
/**
 * How long an address of a name is tried before the next one, in ms. Node gives each but the last a quarter of a second
 * and does not come back to it, so that a far host with an IPv6 address that is out of reach would never be reached. A
 * lost packet of the beginning is sent again after a second.
 */
const ADDRESS_TRIED_MS = 1_500;

/**
 * The only client for URLs that a tenant can influence (A98): https, checked addresses, no redirect, no proxy, no
 * decompression, one time limit over all, a limit on the answer's size.
 *
 * Connections are kept for reads: each was made by the guarded lookup and stays with its checked address until it
 * ends. A write gets a connection of its own, because one that the server closes while idle would leave its effect
 * unknown for nothing.
 */
export function createGuardedHttp(config: GuardedHttpConfig): GuardedHttp {
  const rules = compileOutboundPolicy(config);
  const agent = new Agent({
    keepAlive: true,
    maxSockets: SOCKETS_PER_HOST_MAX,
    maxFreeSockets: IDLE_SOCKETS_MAX,
    timeout: IDLE_SOCKET_MS,
  });
  // Made once: reading all root certificates for every connection costs tens of milliseconds.
  const privateCa =
    config.caPem === undefined
      ? {}
      : { secureContext: createSecureContext({ ca: [...rootCertificates, config.caPem] }) };

  async function send(request: HttpRequest): Promise<HttpResponse> {
    const target = checkOutboundUrl(request.url, rules);
    if (!target.ok) throw new HttpSendError('refused');
    const options = {
      method: request.method,
      headers: headersOf(request),
      agent: request.method === 'GET' ? agent : (false as const),
      lookup: createGuardedLookup(config.resolve ?? resolverFor(target.vouchedFor), target.vouchedFor),
      autoSelectFamilyAttemptTimeout: ADDRESS_TRIED_MS,
      rejectUnauthorized: true,
      ...(target.vouchedFor ? privateCa : {}),
    };
    return exchange(() => httpsRequest(target.url, options), request);
  }

  return { send, close: () => agent.destroy() };
}

function headersOf(request: HttpRequest): Record<string, string | number> {
  return {
    'user-agent': 'mergeyard',
    ...request.headers,
    // Nothing here decompresses, so no answer can be larger than its bytes.
    'accept-encoding': 'identity',
    ...(request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) }),
  };
}

/** `reusedSocket` is not enough: Node leaves it unset for a request that waited in line for its connection. */
const SECURED = new WeakSet<object>();

function exchange(open: () => ClientRequest, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let outgoing: ClientRequest;
    try {
      outgoing = open();
    } catch {
      // A header that no HTTP message can carry, such as a token with a line break.
      return reject(new HttpSendError('refused'));
    }
    let stage: 'connecting' | 'sent' | 'answering' = 'connecting';
    const fail = (error: HttpSendError): void => {
      clearTimeout(timer);
      reject(error);
      outgoing.destroy();
    };
    const lose = (): void => fail(new HttpSendError(stage === 'connecting' ? 'connect' : 'broken'));
    const timer = setTimeout(() => fail(new HttpSendError('timeout')), request.timeoutMs);
    outgoing.on('socket', (socket) => {
      const send = (): void => {
        stage = 'sent';
        SECURED.add(socket);
      };
      if (SECURED.has(socket)) send();
      else socket.once('secureConnect', send);
    });
    outgoing.on('error', (error) => (error instanceof HttpSendError ? fail(error) : lose()));
    // Once an answer has begun, its own end decides: the request may close before the last bytes are handed over.
    outgoing.on('close', () => stage !== 'answering' && lose());
    outgoing.on('response', (incoming) => {
      stage = 'answering';
      const head = { status: incoming.statusCode ?? 0, headers: flattenHeaders(incoming) };
      if (request.bodyBytesMax === 0) {
        clearTimeout(timer);
        resolve({ ...head, body: Buffer.alloc(0) });
        outgoing.destroy();
        return;
      }
      collectBody(incoming, request).then((collected) => {
        clearTimeout(timer);
        resolve({ ...head, ...collected });
      }, fail);
    });
    outgoing.end(request.body);
  });
}

function collectBody(
  incoming: IncomingMessage,
  { bodyBytesMax, cut }: Pick<HttpRequest, 'bodyBytesMax' | 'cut'>,
): Promise<Pick<HttpResponse, 'body' | 'sentBytes'>> {
  return new Promise((resolve, reject) => {
    const encoding = incoming.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') return reject(new HttpSendError('broken'));
    const chunks: Buffer[] = [];
    const cutter = cut === undefined ? null : new StringCutter(cut);
    const sentBytesMax = cut?.sentBytesMax ?? bodyBytesMax;
    let sent = 0;
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      if (sent > sentBytesMax) return reject(new HttpSendError('too_large', sent));
      const kept = cutter === null ? chunk : joinParts(chunk, cutter.push(chunk));
      bytes += kept.length;
      if (bytes > bodyBytesMax) reject(new HttpSendError('too_large', sent));
      else if (kept.length > 0) chunks.push(kept);
    });
    incoming.on('end', () => resolve({ body: Buffer.concat(chunks), sentBytes: sent }));
    // A body that was cut ends in an error, never in `end`.
    incoming.on('error', () => reject(new HttpSendError('broken', sent)));
  });
}

/** The kept bytes of a chunk. A part of a chunk would hold all of it in memory, and is copied. */
function joinParts(chunk: Buffer, parts: readonly Buffer[]): Buffer {
  const isWhole = parts.length === 1 && parts[0]?.length === chunk.length;
  return isWhole ? chunk : Buffer.concat(parts);
}

function flattenHeaders(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}
