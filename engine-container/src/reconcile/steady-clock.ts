import type { EpochMs } from '#core/domain/ids.ts';
import type { Clock } from '#core/ports/system.ts';
import type { EngineClock } from '../queue/record/engine-clock.ts';

/** Less is no step: a wall clock that is kept right drifts by that much between two looks at most. */
const CLOCK_STEP_MS_MIN = 5_000;

/** The clock of one reconcile: its wall clock goes on from the start, whatever is done to that of the machine meanwhile. */
export class SteadyClock implements Clock {
  readonly start: EngineClock;
  readonly #clock: Clock;

  /** @param engine - Id of the process. */
  constructor(clock: Clock, engine: string) {
    this.#clock = clock;
    this.start = { engine, wall: clock.now(), monotonic: clock.monotonic() };
  }

  now(): EpochMs {
    return this.start.wall + Math.round(this.#clock.monotonic() - this.start.monotonic);
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  sleep(ms: number): Promise<void> {
    return this.#clock.sleep(ms);
  }

  /** How far the wall clock of this process was set forward between then and the start, ms; negative: back. 0: not known. */
  stepSince(then: EngineClock | undefined): number {
    if (then?.engine !== this.start.engine) return 0;
    const passedMs = this.start.monotonic - then.monotonic;
    const stepMs = Math.round(this.start.wall - then.wall - passedMs);
    return Math.abs(stepMs) < CLOCK_STEP_MS_MIN ? 0 : stepMs;
  }
}
