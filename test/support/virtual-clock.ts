import type { EpochMs } from '#core/domain/ids.ts';
import type { Clock } from '#core/ports/system.ts';

/** The time that a fake needs: a timer that fires at a virtual instant. */
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
  /** Binary heap, earliest first; equal times in the order they were set. */
  readonly #heap: Timer[] = [];

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
    this.#push({ at: this.#now + Math.max(0, ms), seq: this.#seq++, run });
  }

  /** When the next timer fires; null = none is set. */
  nextTimerAt(): EpochMs | null {
    return this.#heap[0]?.at ?? null;
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) break;
      this.#pop();
      this.#now = Math.max(this.#now, next.at);
      await next.run();
    }
    // A timer may itself have let time pass beyond the end.
    this.#now = Math.max(this.#now, until);
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, timer)) break;
      heap[at] = parent;
      heap[above] = timer;
      at = above;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = heap[below];
      const other = heap[below + 1];
      if (child === undefined) break;
      if (other !== undefined && isBefore(other, child)) {
        child = other;
        below += 1;
      }
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.seq < b.seq);
}
