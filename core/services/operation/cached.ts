import type { Clock } from '../../ports/system.ts';

/** Asks at most once per `keptMs`; callers in between get the last answer. */
export function createCached<T>(
  read: () => Promise<T>,
  keptMs: number,
  clock: Pick<Clock, 'monotonic'>,
): () => Promise<T> {
  let last: { readonly value: Promise<T>; readonly until: number } | null = null;
  return () => {
    if (last === null || clock.monotonic() >= last.until) {
      last = { value: read(), until: clock.monotonic() + keptMs };
    }
    return last.value;
  };
}
