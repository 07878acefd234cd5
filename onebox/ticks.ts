import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { nextTickAt } from '#core/domain/wakes/next-tick.ts';
import type { Clock } from '#core/ports/system.ts';

/** A timer may end some milliseconds before its time. */
const EARLY_MS_MAX = 1_000;

/** Runs it once, so many milliseconds from now. Returns what takes that back. */
type SetTimer = (ms: number, run: () => void) => () => void;

const setSystemTimer: SetTimer = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Ticks at each full interval of the clock, which pages tell as the next look. Returns what ends it. */
export function startTicks(
  clock: Pick<Clock, 'now'>,
  tick: () => Promise<void>,
  setTimer: SetTimer = setSystemTimer,
): () => void {
  let takeBack = (): void => undefined;
  const plan = (): void => {
    const now = clock.now();
    const waitMs = nextTickAt(now) - now;
    // Else the tick of a timer that ended early would come twice.
    takeBack = setTimer(waitMs < EARLY_MS_MAX ? waitMs + TICK_INTERVAL_MS : waitMs, () => {
      plan();
      void tick();
    });
  };
  plan();
  return () => takeBack();
}
