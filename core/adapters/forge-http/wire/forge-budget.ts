import { FORGE_BYTES_MAX, FORGE_READ_ROWS_MAX, FORGE_READS_MAX } from '#core/domain/limits.ts';

/**
 * The reads that one client may make; a client lives for one reconcile or one request. Writes are not refused here: what
 * stands on a forge can be taken back whatever that forge has sent.
 */
export class ForgeBudget {
  readonly #hasTime: () => boolean;
  #reads = 0;
  #bytes = 0;
  #rows = 0;

  /** `hasTime` is asked before each read. */
  constructor(hasTime: () => boolean = () => true) {
    this.#hasTime = hasTime;
  }

  /** Counts one read that is about to be sent; false: it must not be. */
  beginRead(): boolean {
    const isSpent =
      this.#reads >= FORGE_READS_MAX || this.#bytes > FORGE_BYTES_MAX || this.#rows > FORGE_READ_ROWS_MAX;
    if (isSpent || !this.#hasTime()) return false;
    this.#reads += 1;
    return true;
  }

  count(bytes: number, value: unknown): void {
    this.#bytes += bytes;
    this.#rows += countRows(value);
  }
}

/** Rows of a listing, which is the answer itself or stands in a field of it. */
function countRows(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let rows = 0;
  for (const field of Object.values(value)) if (Array.isArray(field)) rows += field.length;
  return rows;
}
