import { ApiError } from '#core/contracts/routes/client.ts';
import type { Machine } from './context.ts';
import { Refusal } from './refusal.ts';

/**
 * The longest time for an answer, longer than the service ever takes: a wait has to notice its end although a call
 * hangs.
 */
const ANSWER_MS_MAX = 60_000;
/** How long the last call of a wait may take, which is made as the time ends and tells the final state. */
const LAST_ANSWER_MS = 2_000;

/**
 * The way to the service: each call has a time, and a failed one tells of a proxy that was not asked.
 * @param end the moment by which the command wants to be over
 */
export function reach(
  { fetch, env, now }: Pick<Machine, 'fetch' | 'env' | 'now'>,
  end = Number.POSITIVE_INFINITY,
): Machine['fetch'] {
  return async (url, init) => {
    const timeMs = Math.min(ANSWER_MS_MAX, Math.max(LAST_ANSWER_MS, end - now()));
    try {
      return await withinTime(fetch, timeMs)(url, init);
    } catch (error) {
      const name = unusedProxy(env, String(url));
      if (name === null || error instanceof ApiError || init?.signal?.aborted === true) throw error;
      throw new Refusal(new ApiError('unreachable', '', 0, true), AWAY, sayProxy(name));
    }
  };
}

const AWAY = 'The service could not be reached.';
const sayProxy = (name: string): string =>
  `${name} is set, but is used only where NODE_USE_ENV_PROXY=1 is set as well (JavaScript runtime 22.21, and 24 or newer). Set that, or check the address and your network, then try again.`;

/** The variable that names a proxy for this address, where Node was not told to use it as it started. */
function unusedProxy(env: Machine['env'], url: string): string | null {
  if ((env.NODE_USE_ENV_PROXY ?? '') !== '') return null;
  const names = url.startsWith('https:') ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  return names.find((name) => (env[name] ?? '') !== '') ?? null;
}

/** Wraps `fetch`: a call without an answer in time fails as one without a network does. */
export function withinTime(fetch: Machine['fetch'], timeMs: number): Machine['fetch'] {
  return (url, init) => {
    const inTime = AbortSignal.timeout(timeMs);
    const signal = init?.signal == null ? inTime : AbortSignal.any([init.signal, inTime]);
    return fetch(url, { ...init, signal });
  };
}
