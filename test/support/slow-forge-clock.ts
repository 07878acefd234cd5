import { LATE_PUSH_ENTRY_MS } from '../../engine-container/src/queue/admission/eligibility.ts';
import { createRealTimers, type Timers } from '../../local/forge/timers.ts';

/**
 * A forge whose clock is behind, so that a press of the button is already past the time in which a late push entry may
 * come (`headSettlesAt`). A test through the whole service would otherwise sit idle for it before each of its landings.
 */
export function createSlowForgeClock(): Timers {
  const real = createRealTimers();
  return { ...real, now: () => real.now() - LATE_PUSH_ENTRY_MS };
}
