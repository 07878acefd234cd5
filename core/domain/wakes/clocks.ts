import type { EpochMs } from '../ids.ts';

/** The clocks of two machines of one installation differ by less. A stored time further ahead is of a clock that was set back. */
export const CLOCKS_DIFFER_MS_MAX = 60_000;

/** Of a clock that was set back since: how long ago it was is not known. */
export function isOfFastClock(storedAt: EpochMs, now: EpochMs): boolean {
  return storedAt > now + CLOCKS_DIFFER_MS_MAX;
}
