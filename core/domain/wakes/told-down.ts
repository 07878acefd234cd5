import { DAY_MS } from '../api-limits.ts';
import type { EpochMs } from '../ids.ts';

/** So many lines within two ticks raise the alarm EngineDown: one alone may tell of a start that takes long. */
export const ENGINE_DOWN_LINES = 2;
/** One more than the alarm needs within its period, so that enough of them lie in one period wherever it begins. */
const TOLD_LINES = ENGINE_DOWN_LINES + 1;
const TOLD_AGAIN_MS = DAY_MS;

/**
 * Remembers which trouble of the engine was told, as long as its process lives. A line that came with each tick would hold the
 * alarm that counts it with the lines of all queues, and that mails only when it begins. Where the process is a new one at each
 * tick, each of them tells.
 */
export class ToldDown {
  #told: { readonly trouble: string; readonly since: EpochMs; lines: number } | null = null;

  /** Whether this sight of a trouble is told; null: there is none. Counts as told where true. */
  isNews(trouble: string | null, now: EpochMs): boolean {
    if (trouble === null) {
      this.#told = null;
      return false;
    }
    if (this.#told?.trouble !== trouble || now - this.#told.since >= TOLD_AGAIN_MS)
      this.#told = { trouble, since: now, lines: 0 };
    this.#told.lines += 1;
    return this.#told.lines <= TOLD_LINES;
  }
}
