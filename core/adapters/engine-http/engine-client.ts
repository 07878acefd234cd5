import { request as httpRequest } from 'node:http';
import { RECONCILE_PATH, toReconcileBody } from '../../contracts/reconcile.ts';
import { ENGINE_TIMEOUT_MS } from '../../domain/limits.ts';
import { CONTAINER_AUTH_HEADER, signContainerCall } from '../../http/container-auth.ts';
import type { Clock, EngineAnswer, EnginePort, Log } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';

export interface EngineClientConfig {
  /** `http://host:port` inside the private network. */
  readonly baseUrl: string;
  readonly readSecret: () => Promise<Secret<string>>;
  readonly clock: Clock;
  readonly log: Log;
  /** @default ENGINE_TIMEOUT_MS */
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
 * One exchange on a connection of its own: a reused one that the other side has just closed would turn "nothing was sent"
 * into "perhaps sent". Never throws. The answer's body is not looked at: the status says all that the contract says.
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

function judge(reply: Reply): EngineAnswer {
  if (reply === 'unreachable' || reply === 'lost') return reply;
  if (reply === 200) return 'ok';
  return reply >= 500 ? 'failed' : 'refused';
}

/** The worker's side of the internal endpoint. The token is in the body once, and nowhere else. */
export function createEngineClient(config: EngineClientConfig): EnginePort {
  return {
    async reconcile(request, order) {
      let secret: Secret<string>;
      try {
        secret = await config.readSecret();
      } catch (error) {
        config.log.error('the container secret could not be read', { error });
        return 'unreachable';
      }
      const body = Buffer.from(JSON.stringify(toReconcileBody(request)));
      const call = { method: 'POST', path: RECONCILE_PATH, body } as const;
      const stamp = signContainerCall(secret, call, order, config.clock.now());
      const reply = await exchange(config.baseUrl, {
        ...call,
        headers: { 'content-type': 'application/json', [CONTAINER_AUTH_HEADER]: stamp },
        timeoutMs: config.timeoutMs ?? ENGINE_TIMEOUT_MS,
      });
      if (reply !== 200) config.log.warn('the engine did not succeed', { reply });
      return judge(reply);
    },

    isHealthy: createEngineProbe(config.baseUrl),
  };
}

/** Whether the engine answers its health check. Never throws; needs no secret. */
export function createEngineProbe(baseUrl: string): () => Promise<boolean> {
  return async () => {
    const reply = await exchange(baseUrl, {
      method: 'GET',
      path: '/healthz',
      headers: {},
      body: Buffer.alloc(0),
      timeoutMs: HEALTH_TIMEOUT_MS,
    });
    return reply === 200;
  };
}
