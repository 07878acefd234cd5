import { GlobSet } from '../globs/glob.ts';

/** Patterns of a branch rule as the forge reads them: separated by semicolons, in lower case. */
export function parseFilePatterns(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(';')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
}

/** The patterns of one rule, read once for all files of a change. */
export class FileGuard {
  readonly #patterns: GlobSet;

  constructor(patterns: readonly string[]) {
    this.#patterns = new GlobSet(patterns, './');
  }

  /** Steps that are left to it; without any it covers every file. */
  get stepsLeft(): number {
    return this.#patterns.effort.left;
  }

  /** `*` and `?` stop at `.` and `/`. A malformed pattern protects nothing, as on the forge. */
  covers(path: string): boolean {
    return this.#patterns.mayMatch(path.trim().toLowerCase());
  }
}
