import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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
  /** Standard output is a terminal, which `watch` draws on. */
  readonly isTerminal: boolean;
  /** Standard output of git in `cwd`, without the last line break; null: git refused, or is not there. */
  readonly readGit: (args: readonly string[]) => Promise<string | null>;
  readonly now: () => number;
  /** Throws `ReaderLeft`, before the time is over as well. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** `owner/name` of the remote `origin`, from the nearest `.git/config`; null: there is none. */
export function readRemoteSlug(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const slug = slugOf(readConfig(at));
    if (slug !== null) return slug;
    if (dirname(at) === at) return null;
  }
}

function readConfig(folder: string): string {
  for (const path of ['.git/config', '.git']) {
    try {
      const text = readFileSync(join(folder, path), 'utf8');
      // A worktree has a file that names its folder, two levels below that of the repository.
      const linked = /^gitdir: (.+)$/m.exec(text)?.[1];
      return linked === undefined ? text : readFileSync(join(folder, linked, '../../config'), 'utf8');
    } catch {}
  }
  return '';
}

export function slugOf(config: string): string | null {
  const section = /^\[remote "origin"\]([^[]*)/m.exec(config)?.[1] ?? '';
  const url = /^\s*url\s*=\s*(\S+)\s*$/m.exec(section)?.[1] ?? '';
  return /([^/:\s]+\/[^/:\s]+?)(?:\.git)?\/?$/.exec(url)?.[1] ?? null;
}
