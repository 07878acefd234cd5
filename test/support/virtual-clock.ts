import type { EpochMs } from '#core/domain/ids.ts';
import type { Clock } from '#core/ports/system.ts';

/** What a fake needs of time: a timer that fires at a virtual instant. */
export interface Timers {
  now(): EpochMs;
  after(ms: number, run: () => void | Promise<void>): void;
}

interface Timer {
  readonly at: number;
  readonly seq: number;
  readonly run: () => void | Promise<void>;
}

/** Virtual time: nothing waits. `sleep` and `advance` run every timer that is due on the way, in order. */
export class VirtualClock implements Clock, Timers {
  #now: number;
  #seq = 0;
  #timers: Timer[] = [];

  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): EpochMs {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  async sleep(ms: number): Promise<void> {
    await this.advance(ms);
  }

  after(ms: number, run: () => void | Promise<void>): void {
    this.#timers.push({ at: this.#now + Math.max(0, ms), seq: this.#seq++, run });
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#timers
        .filter((timer) => timer.at <= until)
        .sort((a, b) => a.at - b.at || a.seq - b.seq)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      await next.run();
    }
    this.#now = until;
  }
}
