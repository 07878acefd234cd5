import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { RECONCILE_PATH, toReconcileBody } from '../../contracts/internal/reconcile.ts';
import { ENGINE_TIMEOUT_MS } from '../../domain/limits.ts';
import { CONTAINER_AUTH_HEADER, signContainerCall } from '../../http/container-auth.ts';
import { sealToken } from '../../http/sealed-token.ts';
import type { EngineDirectory } from '../../ports/engine-fleet.ts';
import type { Clock, EngineAnswer, EnginePort, Log } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';

export interface EngineClientConfig {
  readonly engines: EngineDirectory;
  readonly readSecret: () => Promise<Secret<string>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Time limit of a call, in ms. @default ENGINE_TIMEOUT_MS */
  readonly timeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 3_000;
const HEALTH_TIMEOUT_MS = 3_000;

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly timeoutMs: number;
}

/** HTTP status, or how the call ended without one. */
type Reply = number | 'unreachable' | 'lost';

/**
 * One HTTP exchange on a connection of its own: a reused connection that the other side has just closed would turn
 * "nothing was sent" into "perhaps sent". Never throws. The body of the answer is ignored, because the status says all
 * that the contract says.
 */
function exchange(baseUrl: string, call: Call): Promise<Reply> {
  return new Promise((resolve) => {
    let connected = false;
    const outgoing = httpRequest(new URL(call.path, baseUrl), {
      method: call.method,
      headers: { ...call.headers, 'content-length': call.body.length },
      agent: false,
    });
    const end = (reply: Reply): void => {
      clearTimeout(connectTimer);
      clearTimeout(timer);
      resolve(reply);
      outgoing.destroy();
    };
    const fail = (): void => end(connected ? 'lost' : 'unreachable');
    const connectTimer = setTimeout(() => {
      if (!connected) fail();
    }, CONNECT_TIMEOUT_MS);
    const timer = setTimeout(fail, call.timeoutMs);
    outgoing.on('socket', (socket) => {
      socket.once('connect', () => {
        connected = true;
      });
    });
    outgoing.on('error', fail);
    outgoing.on('close', fail);
    outgoing.on('response', (incoming) => {
      incoming.resume();
      end(incoming.statusCode ?? 'lost');
    });
    outgoing.end(call.body);
  });
}

/** Task of a key. A repository keeps its task while the tasks stay, because the engine remembers what it has read. */
function chooseTask(urls: readonly string[], key: string): string | undefined {
  const rate = (url: string): string => createHash('sha256').update(`${url} ${key}`).digest('hex');
  const rated = urls.map((url) => ({ url, rate: rate(url) }));
  return rated.sort((a, b) => (a.rate < b.rate ? -1 : 1))[0]?.url;
}

/** Calls the task of a key. Where that task is gone, nothing was sent, so ECS is asked for the tasks once more. */
async function callEngine(engines: EngineDirectory, key: string, call: Call): Promise<Reply> {
  let tried: string | undefined;
  for (const fresh of [false, true]) {
    const urls = await engines.list({ fresh });
    const others = urls.filter((url) => url !== tried);
    const url = chooseTask(others.length > 0 ? others : urls, key);
    if (url === undefined) continue;
    const reply = await exchange(url, call);
    if (reply !== 'unreachable') return reply;
    tried = url;
  }
  return 'unreachable';
}

function judge(reply: Reply): EngineAnswer {
  if (reply === 'unreachable' || reply === 'lost') return reply;
  if (reply === 200) return 'ok';
  return reply >= 500 ? 'failed' : 'refused';
}

/** The worker's client of the internal endpoint. The token is in the body once, sealed, and nowhere else. */
export function createEngineClient(config: EngineClientConfig): EnginePort {
  return {
    async reconcile(request, order) {
      let call: Pick<Call, 'method' | 'path' | 'body'>;
      let stamp: string;
      try {
        const secret = await config.readSecret();
        const token = sealToken(secret, request.token, request);
        const body = Buffer.from(JSON.stringify({ ...toReconcileBody(request), token }));
        call = { method: 'POST', path: RECONCILE_PATH, body };
        stamp = signContainerCall(secret, call, order, config.clock.now());
      } catch (error) {
        config.log.error('the container secret could not be read, or is empty: nothing was sent', { error });
        return 'unreachable';
      }
      let reply: Reply;
      try {
        reply = await callEngine(config.engines, `${request.instanceUrl} ${request.repoSlug}`, {
          ...call,
          headers: { 'content-type': 'application/json', [CONTAINER_AUTH_HEADER]: stamp },
          timeoutMs: config.timeoutMs ?? ENGINE_TIMEOUT_MS,
        });
      } catch (error) {
        config.log.error('the platform does not tell where the engine is', { error });
        return 'unreachable';
      }
      if (reply !== 200) config.log.warn('the engine did not succeed', { reply });
      return judge(reply);
    },

    isHealthy: createEngineProbe(config.engines),
  };
}

/** Whether the engine answers its health check. Never throws; needs no secret. */
export function createEngineProbe(engines: EngineDirectory): () => Promise<boolean> {
  return async () => {
    try {
      const reply = await callEngine(engines, '', {
        method: 'GET',
        path: '/healthz',
        headers: {},
        body: Buffer.alloc(0),
        timeoutMs: HEALTH_TIMEOUT_MS,
      });
      return reply === 200;
    } catch {
      return false;
    }
  };
}
