import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import { ForgeError, ReadNotBegun } from '#core/ports/forge.ts';

export type TryRead = <T>(read: () => Promise<T>) => Promise<Reading<T>>;

/** The reads of one look: what cannot be read is unknown, and the first reason is kept. */
export class LookReads {
  readonly #mayRead: () => boolean;
  #failure: ForgeError | null = null;
  #isCutShort = false;

  constructor(mayRead: () => boolean) {
    this.#mayRead = mayRead;
  }

  /** A new look begins. */
  begin(): void {
    this.#isCutShort = false;
  }

  readonly tryRead: TryRead = async (read) => {
    try {
      if (this.#mayRead()) return known(await read());
      this.#isCutShort = true;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error instanceof ReadNotBegun) this.#isCutShort = true;
      else this.#failure ??= error;
    }
    return UNKNOWN;
  };

  /** The budget was spent before the last look was done: what it did not come to is unknown, and says nothing. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /** Why something stayed unknown since the last call; null when all was read. */
  takeFailure(): ForgeError | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
  }
}
