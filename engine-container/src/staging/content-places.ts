import { setTimeout as sleep } from 'node:timers/promises';

/** One merge with large contents takes up to 90 MiB of the engine's 512 while it goes on (decision 0386). */
const LARGE_MERGES_AT_ONCE_MAX = 2;
/** Between two looks at the line. Of the machine's own time: in a test with another clock no two are in the line at once. */
const WAIT_STEP_MS = 50;

/** Waits for a place. Returns how to give it back; null: the time was up before. */
export type TakePlace = (isOutOfTime: () => boolean) => Promise<(() => void) | null>;

interface Place {
  readonly host: string;
}

/**
 * The line of merges with large contents in one engine: two go on at once, one of each forge. The first of each forge come first;
 * once one has ended, the others of its forge stand behind all other forges, so that a slow forge holds up itself.
 */
export class ContentPlaces {
  #line: readonly Place[] = [];

  of(host: string): TakePlace {
    return (isOutOfTime) => this.#take(host, isOutOfTime);
  }

  async #take(host: string, isOutOfTime: () => boolean): Promise<(() => void) | null> {
    const place: Place = { host };
    this.#line = [...this.#line, place];
    while (!this.#isIn(place)) {
      if (isOutOfTime()) {
        this.#line = this.#line.filter((other) => other !== place);
        return null;
      }
      await sleep(WAIT_STEP_MS);
    }
    return () => {
      const others = this.#line.filter((other) => other !== place);
      const isOfHost = (other: Place): boolean => other.host === host;
      this.#line = [...others.filter((other) => !isOfHost(other)), ...others.filter(isOfHost)];
    };
  }

  #isIn(place: Place): boolean {
    const firsts = new Map<string, Place>();
    for (const other of this.#line) if (!firsts.has(other.host)) firsts.set(other.host, other);
    return [...firsts.values()].slice(0, LARGE_MERGES_AT_ONCE_MAX).includes(place);
  }
}
