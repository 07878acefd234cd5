import type { EpochMs } from '../ids.ts';
import { TICK_INTERVAL_MS } from '../limits.ts';

/** The next tick after this moment: one comes at each full interval of the clock, in the cloud and in the one box. */
export function nextTickAt(now: EpochMs): EpochMs {
  return (Math.floor(now / TICK_INTERVAL_MS) + 1) * TICK_INTERVAL_MS;
}
