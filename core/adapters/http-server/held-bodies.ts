/** A body that is being read. */
export interface HeldBody {
  /** Keeps more bytes of the body. False: the body was given up, and nothing of it is kept. */
  keep(bytes: Buffer): boolean;
  /** The whole body; null: it was given up. */
  take(): Buffer | null;
  /** Frees the body, once the request has its answer. */
  end(): void;
}

/** Memory that each piece takes beside its bytes: a body may come byte by byte. */
const PIECE_BYTES = 256;

interface Held {
  chunks: Buffer[] | null;
  size: number;
}

/**
 * Bodies of all requests together, which have a limit: any caller may send one, and its bytes are kept until the answer. Beyond
 * the limit the largest is given up, so that small ones, such as deliveries of webhooks, are read beside those who fill it.
 */
export class HeldBodies {
  readonly #bytesMax: number;
  readonly #held = new Set<Held>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  open(): HeldBody {
    const held: Held = { chunks: [], size: 0 };
    this.#held.add(held);
    return {
      keep: (bytes) => {
        if (held.chunks === null) return false;
        held.chunks.push(bytes);
        held.size += bytes.length + PIECE_BYTES;
        this.#bytes += bytes.length + PIECE_BYTES;
        while (this.#bytes > this.#bytesMax) this.#giveUpLargest();
        return held.chunks !== null;
      },
      take: () => (held.chunks === null ? null : Buffer.concat(held.chunks)),
      end: () => this.#forget(held),
    };
  }

  #giveUpLargest(): void {
    let largest: Held | undefined;
    for (const each of this.#held) if (each.size > (largest?.size ?? 0)) largest = each;
    if (largest !== undefined) this.#forget(largest);
  }

  #forget(held: Held): void {
    if (!this.#held.delete(held)) return;
    this.#bytes -= held.size;
    held.chunks = null;
  }
}
