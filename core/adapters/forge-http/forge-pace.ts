import {
  FORGE_PACE_HOSTS_MAX,
  FORGE_PACE_RAISE_MS,
  FORGE_PACE_START_PER_SECOND,
  FORGE_PACE_UNBOUND_PER_SECOND,
  FORGE_PACE_WAIT_MS_MAX,
  FORGE_QUIET_MS,
} from '#core/domain/limits.ts';
import { parseUrl } from '#core/domain/parse-url.ts';
import type { Clock } from '#core/ports/system.ts';
import type { HttpRequest, HttpResponse, HttpSend } from '../http-guard/http-send.ts';
import { HttpSendError } from '../http-guard/http-send.ts';
import { parseRetryAfterMs } from './retry-after.ts';

/** Answers that did not come, in a row, from which on a host is taken to be away. */
const OUTAGE_FAILURES = 3;

interface Host {
  /** Null: as many as there are. */
  perSecond: number | null;
  /** Earliest time of the next read. */
  nextAt: number;
  /** No read before: the forge has asked for that. */
  quietUntil: number;
  /** When the ceiling was last set or raised. */
  setAt: number;
  failures: number;
}

/**
 * The reads of one process to each forge host, over all its repositories. A host that answers 429, or 503 with
 * `Retry-After`, is left alone for as long as it says, and then gets few reads a second, and more as long as it does not
 * complain; so does one that was away. Writes always go: what takes a success back must not wait (A24).
 */
export class ForgePace {
  readonly #clock: Clock;
  readonly #hosts = new Map<string, Host>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pace(send: HttpSend): HttpSend {
    return async (request) => {
      const name = parseUrl(request.url)?.host ?? '';
      const refused = request.method === 'GET' ? await this.#admit(name) : null;
      if (refused !== null) return refused;
      try {
        const response = await send(request);
        this.#learn(name, request, response);
        return response;
      } catch (error) {
        if (error instanceof HttpSendError && error.kind !== 'refused') this.#countFailure(name);
        throw error;
      }
    };
  }

  /** Waits for its turn; an answer in the forge's place where that would take too long. */
  async #admit(name: string): Promise<HttpResponse | null> {
    const host = this.#hosts.get(name);
    if (host === undefined || host.perSecond === null) return null;
    const now = this.#clock.monotonic();
    if (host.quietUntil > now) return tooMany(host.quietUntil - now);
    const raises = Math.floor((now - host.setAt) / FORGE_PACE_RAISE_MS);
    if (raises > 0) {
      host.perSecond *= 2 ** raises;
      host.setAt += raises * FORGE_PACE_RAISE_MS;
    }
    if (host.perSecond > FORGE_PACE_UNBOUND_PER_SECOND) {
      this.#hosts.delete(name);
      return null;
    }
    const at = Math.max(now, host.nextAt);
    if (at - now > FORGE_PACE_WAIT_MS_MAX) return tooMany(at - now);
    host.nextAt = at + 1_000 / host.perSecond;
    if (at > now) await this.#clock.sleep(at - now);
    return null;
  }

  #learn(name: string, { method }: HttpRequest, { status, headers }: HttpResponse): void {
    const retryAfterMs = parseRetryAfterMs(headers['retry-after'], this.#clock.now());
    if (status === 429 || (status === 503 && retryAfterMs !== null)) {
      return this.#slowDown(name, retryAfterMs ?? FORGE_QUIET_MS);
    }
    const host = this.#hosts.get(name);
    if (host === undefined) return;
    if (host.failures >= OUTAGE_FAILURES) this.#slowDown(name, 0);
    else if (host.perSecond === null && method === 'GET') this.#hosts.delete(name);
    host.failures = 0;
  }

  /** To the rate of the beginning, and below it where it has complained of that already. */
  #slowDown(name: string, quietMs: number): void {
    const now = this.#clock.monotonic();
    const host = this.#of(name);
    const isUnderWay = host.quietUntil > now;
    const before = host.perSecond ?? FORGE_PACE_START_PER_SECOND * 2;
    // Calls that were sent together complain together.
    if (!isUnderWay) host.perSecond = Math.max(1, Math.min(FORGE_PACE_START_PER_SECOND, before / 2));
    host.quietUntil = Math.max(host.quietUntil, now + quietMs);
    host.nextAt = Math.max(host.nextAt, host.quietUntil);
    host.setAt = host.quietUntil;
  }

  #countFailure(name: string): void {
    this.#of(name).failures += 1;
  }

  #of(name: string): Host {
    const known = this.#hosts.get(name);
    if (known !== undefined) return known;
    const oldest = this.#hosts.keys().next();
    if (this.#hosts.size >= FORGE_PACE_HOSTS_MAX && oldest.done !== true) this.#hosts.delete(oldest.value);
    const host = { perSecond: null, nextAt: 0, quietUntil: 0, setAt: 0, failures: 0 };
    this.#hosts.set(name, host);
    return host;
  }
}

/** The answer that the forge has given, or would give: nothing is sent for it. */
function tooMany(waitMs: number): HttpResponse {
  const headers = { 'retry-after': String(Math.ceil(waitMs / 1_000)) };
  return { status: 429, headers, body: Buffer.alloc(0) };
}
