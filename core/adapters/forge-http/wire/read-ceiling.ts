import {
  FORGE_PACE_RAISE_MS,
  FORGE_PACE_START_PER_SECOND,
  FORGE_PACE_UNBOUND_PER_SECOND,
} from '#core/adapters/forge-http/wire/forge-pace-limits.ts';

/** Limits reads to a rate, from a time on. Times are of one monotonic clock, in ms. */
export class ReadCeiling {
  /** Reads a second; null: no limit. */
  #perSecond: number | null = null;
  /** Earliest time of the next read. */
  #nextAt = 0;
  /** Time before which no read is sent, because the forge has asked for that. */
  #quietUntil = 0;
  /** Time at which the ceiling was last set or raised. */
  #setAt = 0;

  isSet(now: number): boolean {
    this.#raise(now);
    return this.#perSecond !== null;
  }

  isQuiet(now: number): boolean {
    return this.#quietUntil > now;
  }

  waitMs(now: number): number {
    return this.isSet(now) ? Math.max(0, this.#nextAt - now) : 0;
  }

  /** Counts a read that is sent at this time. */
  take(at: number): void {
    if (this.#perSecond !== null) this.#nextAt = at + 1_000 / this.#perSecond;
  }

  /** Lowers the rate after a complaint: to the first rate, or to half of the present one where that is lower. */
  lower(now: number, quietMs: number): void {
    const before = this.isSet(now) ? (this.#perSecond ?? 0) : FORGE_PACE_START_PER_SECOND * 2;
    // Calls that were sent together complain together.
    if (!this.isQuiet(now)) {
      this.#perSecond = Math.max(1, Math.min(FORGE_PACE_START_PER_SECOND, before / 2));
    }
    this.#quietUntil = Math.max(this.#quietUntil, now + quietMs);
    this.#nextAt = Math.max(this.#nextAt, this.#quietUntil);
    this.#setAt = this.#quietUntil;
  }

  #raise(now: number): void {
    const raises = Math.floor((now - this.#setAt) / FORGE_PACE_RAISE_MS);
    if (this.#perSecond === null || raises <= 0) return;
    this.#perSecond *= 2 ** raises;
    this.#setAt += raises * FORGE_PACE_RAISE_MS;
    if (this.#perSecond > FORGE_PACE_UNBOUND_PER_SECOND) this.#perSecond = null;
  }
}
