import type { EpochMs } from '#core/domain/ids.ts';
import { VirtualClock } from './virtual-clock.ts';

/** The clock of a machine whose wall clock is set forward or back while time goes on as everywhere. */
export class SteppedClock extends VirtualClock {
  readonly #time: VirtualClock;
  /** How wrong the wall clock is, ms. */
  #aheadMs = 0;

  constructor(time: VirtualClock) {
    super();
    this.#time = time;
  }

  /** @param stepMs - Negative: back. */
  put(stepMs: number): void {
    this.#aheadMs += stepMs;
  }

  override now(): EpochMs {
    return this.#time.now() + this.#aheadMs;
  }

  override monotonic(): number {
    return this.#time.monotonic();
  }

  override advance(ms: number): Promise<void> {
    return this.#time.advance(ms);
  }
}
