import { createHash } from 'node:crypto';
import {
  FORGE_PACE_ASKING_MS,
  FORGE_PACE_CREDENTIALS_MAX,
  FORGE_PACE_HOSTS_MAX,
  FORGE_PACE_REPOS_MAX,
  FORGE_PACE_WAIT_MS_MAX,
  FORGE_QUIET_MS,
} from '#core/adapters/forge-http/wire/forge-pace-limits.ts';
import { parseUrl } from '#core/domain/parse-url.ts';
import type { Clock } from '#core/ports/system.ts';
import type { HttpRequest, HttpResponse, HttpSend } from '../../http-guard/http-send.ts';
import { HttpSendError } from '../../http-guard/http-send.ts';
import { ByteAllowance } from './byte-allowance.ts';
import { ReadCeiling } from './read-ceiling.ts';
import { parseRetryAfterMs } from './retry-after.ts';

/** Calls without an answer, in a row, from which on a host counts as away. */
const OUTAGE_FAILURES = 3;
/**
 * Credentials that must be limited before the host is taken to limit by address: a single one may be limited for its
 * own calls.
 */
const LIMITED_CREDENTIALS_MIN = 2;

interface Asker {
  readonly ceiling: ReadCeiling;
  askedAt: number;
  failures: number;
}

interface Host {
  /** Ceiling for all credentials together, once the host is seen to limit by address. */
  readonly ceiling: ReadCeiling;
  readonly askers: Map<string, Asker>;
  /** Of each repository and credential. */
  readonly allowances: Map<string, ByteAllowance>;
}

/**
 * The reads of one process to each forge host, by credential. A credential that is answered 429, or 503 with `Retry-After`,
 * is left alone for as long as the forge says, and then gets few reads a second, and more as long as there is no complaint;
 * so does one whose calls went unanswered. One tenant must not slow its neighbours on a forge by what its own token did: only
 * where most of the credentials that ask are held back does the same hold for the host, whose proxy then limits by address.
 * The reads of a repository whose answers are large wait as well, because each byte takes time from all tenants.
 * Writes always go: what takes a success back must not wait (A24).
 */
export class ForgePace {
  readonly #clock: Clock;
  readonly #hosts = new Map<string, Host>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pace(send: HttpSend): HttpSend {
    return async (request) => {
      const host = this.#hostOf(request);
      const credential = hashOf(request.headers);
      const asker = this.#askerOf(host, credential);
      const allowance = allowanceOf(host, credential, request);
      const refused = request.method === 'GET' ? await this.#admit(host, asker, allowance) : null;
      if (refused !== null) return refused;
      try {
        const response = await send(request);
        allowance.count(this.#clock.monotonic(), response.sentBytes ?? response.body.length);
        this.#learn(host, asker, response);
        return response;
      } catch (error) {
        if (!(error instanceof HttpSendError)) throw error;
        allowance.count(this.#clock.monotonic(), error.sentBytes);
        if (error.kind !== 'refused') asker.failures += 1;
        throw error;
      }
    };
  }

  /**
   * Waits for the turn of a read. Returns an answer in the forge's place where that would take too long, else null. Throws
   * where the bytes of earlier answers have to be waited for that long: of these the forge has said nothing.
   */
  async #admit(host: Host, asker: Asker, allowance: ByteAllowance): Promise<HttpResponse | null> {
    const now = this.#clock.monotonic();
    asker.askedAt = now;
    const turnMs = Math.max(asker.ceiling.waitMs(now), host.ceiling.waitMs(now));
    const isQuiet = asker.ceiling.isQuiet(now) || host.ceiling.isQuiet(now);
    if (isQuiet || turnMs > FORGE_PACE_WAIT_MS_MAX) return tooMany(turnMs);
    const waitMs = Math.max(turnMs, allowance.waitMs(now));
    if (waitMs > FORGE_PACE_WAIT_MS_MAX) throw new HttpSendError('withheld');
    for (const ceiling of [asker.ceiling, host.ceiling]) ceiling.take(now + waitMs);
    if (waitMs > 0) await this.#clock.sleep(waitMs);
    return null;
  }

  #learn(host: Host, asker: Asker, { status, headers }: HttpResponse): void {
    const retryAfterMs = parseRetryAfterMs(headers['retry-after'], this.#clock.now());
    const complains = status === 429 || (status === 503 && retryAfterMs !== null);
    if (complains) this.#slowDown(host, asker, retryAfterMs ?? FORGE_QUIET_MS);
    else if (asker.failures >= OUTAGE_FAILURES) this.#slowDown(host, asker, 0);
    if (!complains) asker.failures = 0;
  }

  #slowDown(host: Host, asker: Asker, quietMs: number): void {
    const now = this.#clock.monotonic();
    asker.ceiling.lower(now, quietMs);
    const asking = [...host.askers.values()].filter(({ askedAt }) => now - askedAt <= FORGE_PACE_ASKING_MS);
    const limited = asking.filter(({ ceiling }) => ceiling.isSet(now)).length;
    if (limited >= LIMITED_CREDENTIALS_MIN && limited * 2 > asking.length) host.ceiling.lower(now, quietMs);
  }

  #hostOf({ url }: HttpRequest): Host {
    const name = parseUrl(url)?.host ?? '';
    return remember(this.#hosts, name, FORGE_PACE_HOSTS_MAX, () => ({
      ceiling: new ReadCeiling(),
      askers: new Map(),
      allowances: new Map(),
    }));
  }

  #askerOf(host: Host, credential: string): Asker {
    return remember(host.askers, credential, FORGE_PACE_CREDENTIALS_MAX, () => ({
      ceiling: new ReadCeiling(),
      askedAt: this.#clock.monotonic(),
      failures: 0,
    }));
  }
}

/** The allowance of a repository with this credential; calls outside of repositories have one together. */
function allowanceOf(host: Host, credential: string, { url }: HttpRequest): ByteAllowance {
  const repo = /\/api\/v1\/repos\/[^/]+\/[^/?]+/.exec(url)?.[0] ?? '';
  const key = `${credential} ${repo}`;
  return remember(host.allowances, key, FORGE_PACE_REPOS_MAX, () => new ByteAllowance());
}

function hashOf({ authorization }: HttpRequest['headers']): string {
  return createHash('sha256')
    .update(authorization ?? '')
    .digest('base64url');
}

/** The entry of a key, made where there is none; the longest unused one makes room. */
function remember<Entry>(entries: Map<string, Entry>, key: string, max: number, make: () => Entry): Entry {
  const entry = entries.get(key) ?? make();
  entries.delete(key);
  const oldest = entries.keys().next();
  if (entries.size >= max && oldest.done !== true) entries.delete(oldest.value);
  entries.set(key, entry);
  return entry;
}

/** The answer that the forge has given or would give; nothing is sent for it. */
function tooMany(waitMs: number): HttpResponse {
  const headers = { 'retry-after': String(Math.ceil(waitMs / 1_000)) };
  return { status: 429, headers, body: Buffer.alloc(0) };
}
