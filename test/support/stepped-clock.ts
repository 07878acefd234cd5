import type { EpochMs } from '#core/domain/ids.ts';
import { VirtualClock } from './virtual-clock.ts';

/** The clock of a machine whose wall clock is set forward or back while time goes on as everywhere. */
export class SteppedClock extends VirtualClock {
  readonly #time: VirtualClock;
  /** How wrong the wall clock is, ms. */
  #aheadMs = 0;
  /** How long the machine was suspended, ms: the monotonic clock of Linux stands still then. */
  #suspendedMs = 0;
  #isSuspended = false;

  constructor(time: VirtualClock) {
    super();
    this.#time = time;
  }

  /** @param stepMs - Negative: back. */
  put(stepMs: number): void {
    this.#aheadMs += stepMs;
  }

  /** From here on time passes without this machine, until it wakes up. */
  suspend(): void {
    this.#isSuspended = true;
  }

  wakeUp(): void {
    this.#isSuspended = false;
  }

  override now(): EpochMs {
    return this.#time.now() + this.#aheadMs;
  }

  override monotonic(): number {
    return this.#time.monotonic() - this.#suspendedMs;
  }

  override after(ms: number, run: () => void | Promise<void>): void {
    this.#time.after(ms, run);
  }

  override async advance(ms: number): Promise<void> {
    const before = this.#time.monotonic();
    await this.#time.advance(ms);
    if (this.#isSuspended) this.#suspendedMs += this.#time.monotonic() - before;
  }
}
