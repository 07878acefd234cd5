import type { ApiClient, ResultOf } from '#core/contracts/routes/client.ts';
import type { Machine } from './context.ts';
import { plain, toJsonLine } from './values.ts';

/** Exit codes. Scripts read them, so a value never changes. */
export const EXIT = { ok: 0, fault: 1, left: 2, timedOut: 3, unwell: 4, misuse: 64, refused: 69 } as const;

export type Repo = ResultOf<'listRepos'>[number];

/** One call of the command line, logged in: the service that is asked, and how its answer is given. */
export interface Asked {
  readonly api: ApiClient;
  readonly machine: Machine;
  readonly json: boolean;
  /** Whether the command prints nothing, so that the exit code is the whole answer. */
  readonly quiet: boolean;
}

/** How an answer is given. */
export interface Printing extends Pick<Asked, 'json' | 'quiet'> {
  readonly machine: Pick<Machine, 'print'>;
}

/**
 * Prints an answer as one line of JSON, or as lines for people. Every line is made safe for a terminal here, because
 * names and words that the service passes on are those of strangers.
 */
export const emit = (asked: Printing, value: unknown, lines: () => readonly string[]): void => {
  if (asked.quiet) return;
  for (const line of asked.json ? [toJsonLine(value)] : lines().map(plain)) asked.machine.print(line);
};
