import { HEALTH_TICK_AGE_MS_MAX } from '#core/domain/api-limits.ts';
import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import type { HealthStore } from '#core/ports/account-store.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCached } from '#core/services/operation/cached.ts';

/** The probe of the image gives up after five seconds. */
const ANSWER_WITHIN_MS = 3_000;
const KEPT_MS = 5_000;

/** A full disk can be read. Each proof is a write, so there are few while they go well. */
const PROVEN_KEPT_MS = 30_000;

export interface HealthParts {
  readonly store: Pick<HealthStore, 'loadLastTick'>;
  /** Rejects where the table takes no row. */
  readonly proveWritable: () => Promise<void>;
  /** False: what is written now is lost. */
  readonly isFolderThere: () => boolean;
  /** When the timer last looked at everything that is due, of the monotonic clock; the start counts as a look. */
  readonly lookedAt: () => number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** @default ANSWER_WITHIN_MS */
  readonly withinMs?: number;
}

type Dependency = 'data_folder' | 'database' | 'timer';

/**
 * Whether this process can serve: its data folder is there, its database reads and takes rows, and the timer gets through
 * its looks, for which it reads more of the table than a probe does. Asked once in five seconds, however many callers there are.
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
