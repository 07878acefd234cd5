import { HEALTH_TICK_AGE_MS_MAX } from '#core/domain/api-limits.ts';
import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import type { HealthStore } from '#core/ports/account-store.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCached } from '#core/services/operation/cached.ts';

/** Time within which an answer is given, in ms: the probe of the image gives up after five seconds. */
const ANSWER_WITHIN_MS = 3_000;
const KEPT_MS = 5_000;

/**
 * How long a proof that the table can be written counts, in ms. Each proof is a write, because a full disk can still be
 * read.
 */
const PROVEN_KEPT_MS = 30_000;

export interface HealthParts {
  readonly store: Pick<HealthStore, 'loadLastTick'>;
  /** Writes a row. Rejects where the table takes none. */
  readonly proveWritable: () => Promise<void>;
  /** Whether the data folder is there. False: what is written now is lost. */
  readonly isFolderThere: () => boolean;
  /**
   * Time at which the timer last looked at everything that is due, of the monotonic clock, in ms; the start counts as a
   * look.
   */
  readonly lookedAt: () => number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Time within which an answer is given, in ms. @default ANSWER_WITHIN_MS */
  readonly withinMs?: number;
}

type Dependency = 'data_folder' | 'database' | 'timer';

/**
 * Answers whether this process can serve: its data folder is there, its database takes and returns rows, and the timer
 * gets through its looks, which read more of the table than a probe does. The checks run once in five seconds, however
 * many callers there are.
 */
export function createHealth(parts: HealthParts) {
  const { store, isFolderThere, clock, withinMs = ANSWER_WITHIN_MS } = parts;
  let provenAt: number | null = null;
  const takesRows = async (): Promise<boolean> => {
    if (provenAt !== null && clock.monotonic() - provenAt < PROVEN_KEPT_MS)
      return answers(store.loadLastTick(), withinMs);
    const isProven = await answers(parts.proveWritable(), withinMs);
    provenAt = isProven ? clock.monotonic() : null;
    return isProven;
  };
  const findMissing = async (): Promise<Dependency | null> => {
    if (!isFolderThere()) return 'data_folder';
    if (!(await takesRows())) return 'database';
    return clock.monotonic() - parts.lookedAt() > HEALTH_TICK_AGE_MS_MAX ? 'timer' : null;
  };
  const readMissing = createCached(findMissing, KEPT_MS, clock);
  return async (): Promise<HttpResponse> => {
    const dependency = await readMissing();
    return dependency === null
      ? respondJson(200, { status: 'ok' })
      : respondJson(503, { status: 'unavailable', dependency });
  };
}

async function answers(call: Promise<unknown>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  try {
    return await Promise.race([
      call.then(
        () => true,
        () => false,
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
