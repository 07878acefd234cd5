import type { BlobId, CommitSha, EpochMs, PullRequestNumber, TreeHash } from '../ids.ts';

/** `line` and `column` count from 1. `key`: the setting; null: the fault is in no single one. */
export interface FileProblem {
  readonly line: number;
  readonly column: number;
  readonly key: string | null;
  readonly says: string;
}

/** Values that a settings file gives, by their names in the file. */
export type FileValues = Readonly<Record<string, unknown>>;

/** The settings file of a repository, as the engine read it on the base. */
export interface SettingsSeen {
  /** Tip of the base at which it was last read. */
  readonly commit: CommitSha;
  readonly tree: TreeHash;
  /** First look that saw the file as it is at that commit. */
  readonly since: EpochMs;
  /** Null: the base has no file of that name. */
  readonly blob: BlobId | null;
  /** Of the last right file. Empty: every setting is the stored one. */
  readonly values: FileValues;
  /** Commit at which the file with these values was first seen; null: no file is in force. */
  readonly from: CommitSha | null;
  /** Faults of the file at `commit`: the values before it stay in force. Absent: it is right, or there is none. */
  readonly problems?: readonly FileProblem[];
}

/** Problems told in one sentence; the rest is on the page. */
const TOLD_PROBLEMS_MAX = 3;

/** Where the file is wrong, and how: `line 2: …; line 5: …`. */
export function sayProblems(problems: readonly FileProblem[]): string {
  const told = problems
    .slice(0, TOLD_PROBLEMS_MAX)
    .map(({ line, says }) => `line ${line}: ${says.replace(/\.$/, '')}`);
  const more = problems.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** A change of the settings file in words: short for a status, and whole for the page. */
export interface SettingsWords {
  readonly short: string;
  readonly says: string;
}

/** For the author of a pull request that is staged with such a change. */
export interface SettingsTold extends SettingsWords {
  readonly pr: PullRequestNumber;
}
