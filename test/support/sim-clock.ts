import type { EpochMs } from '#core/domain/ids.ts';
import { type Timers, VirtualClock } from './virtual-clock.ts';

/**
 * Virtual time for several tasks at once: `sleep` lets the others run until it is over, and time moves only when all of
 * them wait. One thread, one order of events for one seed.
 */
export class SimClock implements Timers {
  readonly #timers: VirtualClock;
  #mustSettle = false;
  #stopped = false;

  constructor() {
    this.#timers = new VirtualClock();
  }

  now(): EpochMs {
    return this.#timers.now();
  }

  after(ms: number, run: () => void | Promise<void>): void {
    this.#timers.after(ms, () => {
      // Not awaited: a task that sleeps must not hold up time.
      if (run() !== undefined) this.#mustSettle = true;
    });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.after(ms, () => {
        this.#mustSettle = true;
        resolve();
      });
    });
  }

  /** No time passes any more. */
  stop(): void {
    this.#stopped = true;
  }

  /** Runs everything up to `at`, one instant after the other; `afterInstant` says whether to go on. */
  async runUntil(at: EpochMs, afterInstant: () => boolean = () => true): Promise<void> {
    await settle();
    while (!this.#stopped && afterInstant()) {
      const next = this.#timers.nextTimerAt();
      if (next === null || next > at) break;
      this.#mustSettle = false;
      await this.#timers.advance(next - this.#timers.now());
      if (this.#mustSettle) await settle();
    }
    if (!this.#stopped && this.#timers.now() < at && (this.#timers.nextTimerAt() ?? at) >= at) {
      await this.#timers.advance(at - this.#timers.now());
    }
  }
}

/**
 * Until every task waits for a timer: Node takes its next tick when no promise can go on any more, and a turn of the
 * event loop, which would do as well, costs system calls a million times over.
 */
function settle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
