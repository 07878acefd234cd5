import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import type { HealthStore } from '#core/ports/account-store.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCached } from '#core/services/health.ts';

/** The probe of the image gives up after five seconds. */
const ANSWER_WITHIN_MS = 3_000;
const KEPT_MS = 5_000;

export interface HealthParts {
  readonly store: Pick<HealthStore, 'loadLastTick'>;
  /** False: what is written now is lost. */
  readonly isFolderThere: () => boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** @default ANSWER_WITHIN_MS */
  readonly withinMs?: number;
}

type Dependency = 'data_folder' | 'database';

/** Whether this process can serve: its data folder is there, and its database answers. It is asked once in five seconds, however many callers there are. */
export function createHealth({ store, isFolderThere, clock, withinMs = ANSWER_WITHIN_MS }: HealthParts) {
  const findMissing = async (): Promise<Dependency | null> => {
    if (!isFolderThere()) return 'data_folder';
    return (await answers(store.loadLastTick(), withinMs)) ? null : 'database';
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
