import {
  FORGE_PACE_BYTES_AT_ONCE,
  FORGE_PACE_BYTES_PER_SECOND,
} from '#core/adapters/forge-http/wire/forge-pace-limits.ts';

/** Limits the bytes of answers to a rate, beyond some at once. Times are of one monotonic clock, in ms. */
export class ByteAllowance {
  /** Bytes that came and are not yet made up for by time. */
  #bytes = 0;
  #countedAt = 0;

  /** How long the next read waits. */
  waitMs(now: number): number {
    const over = this.#left(now) - FORGE_PACE_BYTES_AT_ONCE;
    return Math.max(0, Math.ceil((over / FORGE_PACE_BYTES_PER_SECOND) * 1_000));
  }

  /** Counts an answer that came by this time. */
  count(now: number, bytes: number): void {
    this.#bytes = this.#left(now) + bytes;
    this.#countedAt = now;
  }

  #left(now: number): number {
    return Math.max(0, this.#bytes - ((now - this.#countedAt) / 1_000) * FORGE_PACE_BYTES_PER_SECOND);
  }
}
