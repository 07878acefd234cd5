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
 * The way to the service: each call has a time, and a failed one tells of a certificate that is not trusted, and of a
 * proxy that was not asked.
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
      if (error instanceof ApiError || init?.signal?.aborted === true) throw error;
      const fault = readTlsFault(error);
      if (fault !== null) throw fault;
      const name = unusedProxy(env, String(url));
      if (name === null) throw error;
      throw new Refusal(new ApiError('unreachable', '', 0, true), AWAY, sayProxy(name));
    }
  };
}

const OF_NO_KNOWN =
  'Where a private authority signs it, set NODE_EXTRA_CA_CERTS to the file with its PEM. Else check the address, and that no proxy answers in its place.';
/** Next step by the code that Node gives to a certificate which it does not believe. */
const TLS_STEPS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: OF_NO_KNOWN,
  SELF_SIGNED_CERT_IN_CHAIN: OF_NO_KNOWN,
  UNABLE_TO_GET_ISSUER_CERT: OF_NO_KNOWN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: OF_NO_KNOWN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: OF_NO_KNOWN,
  CERT_HAS_EXPIRED:
    'Check the clock of this machine. Where it is right, who runs the service has to renew the certificate.',
  CERT_NOT_YET_VALID: 'Check the clock of this machine: it is before the first day of the certificate.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Check the address: the certificate is for another host.',
};

/** The refusal for a certificate that is not believed, which another try does not change; null: another fault. */
function readTlsFault(error: unknown): Refusal | null {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  const step = TLS_STEPS[code];
  if (step === undefined) return null;
  const says = `The certificate of the service is not trusted here (${code}).`;
  return new Refusal(new ApiError('unreachable', '', 0, false), says, step);
}

const AWAY = 'The service could not be reached.';
const sayProxy = (name: string): string =>
  `${name} is set, but is used only where NODE_USE_ENV_PROXY=1 is set as well (JavaScript runtime 22.21, and 24 or newer). Set that, or check the address and your network, then try again.`;

/** The variable that names a proxy for this address, where Node was not told to use it as it started. */
function unusedProxy(env: Machine['env'], url: string): string | null {
  if ((env.NODE_USE_ENV_PROXY ?? '') !== '' || isExempt(env, url)) return null;
  const names = url.startsWith('https:') ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  return names.find((name) => (env[name] ?? '') !== '') ?? null;
}

/** Whether `NO_PROXY` names the host of this address: by its name, by a domain above it, or with all others. */
function isExempt(env: Machine['env'], url: string): boolean {
  const { hostname, host } = new URL(url);
  const entries = `${env.NO_PROXY ?? ''},${env.no_proxy ?? ''}`.toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    if (entry === '*' || entry === hostname || entry === host) return true;
    const domain = entry.replace(/^\*?\./, '');
    return domain !== '' && domain !== entry && hostname.endsWith(`.${domain}`);
  });
}

/** Wraps `fetch`: a call without an answer in time fails as one without a network does. */
export function withinTime(fetch: Machine['fetch'], timeMs: number): Machine['fetch'] {
  return (url, init) => {
    const inTime = AbortSignal.timeout(timeMs);
    const signal = init?.signal == null ? inTime : AbortSignal.any([init.signal, inTime]);
    return fetch(url, { ...init, signal });
  };
}
