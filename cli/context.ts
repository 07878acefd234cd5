/** A refusal of the command line itself: one sentence for a person. */
export class Misuse extends Error {}

/** The reader of standard output has left, as after `| head -1`: what would go on printing ends, without a word. */
export class ReaderLeft extends Error {}

/** The parts of the machine that a command uses. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly fetch: typeof globalThis.fetch;
  readonly print: (line: string) => void;
  /** Whether standard output is a terminal, on which `watch` draws. */
  readonly isTerminal: boolean;
  /** Standard output of git in `cwd`, without the last line break; null: git refused, or is not there. */
  readonly readGit: (args: readonly string[]) => Promise<string | null>;
  readonly now: () => number;
  /** Sleeps for `ms`. Throws `ReaderLeft` as soon as the reader of standard output is gone. */
  readonly sleep: (ms: number) => Promise<void>;
}
