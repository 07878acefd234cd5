import {
  FORGE_PACE_RAISE_MS,
  FORGE_PACE_START_PER_SECOND,
  FORGE_PACE_UNBOUND_PER_SECOND,
} from '#core/adapters/forge-http/wire/forge-pace-limits.ts';

/** How many reads a second go, and from when on. Times are of one monotonic clock, in ms. */
export class ReadCeiling {
  /** Null: as many as there are. */
  #perSecond: number | null = null;
  /** Earliest time of the next read. */
  #nextAt = 0;
  /** No read before: the forge has asked for that. */
  #quietUntil = 0;
  /** When the ceiling was last set or raised. */
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

  /** A read goes at this time. */
  take(at: number): void {
    if (this.#perSecond !== null) this.#nextAt = at + 1_000 / this.#perSecond;
  }

  /** To the rate of the beginning, and below it where there was a complaint of that already. */
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
