import type { CommitSha } from '../domain/ids.ts';
import type { RepoIdReader } from './repo-id.ts';

/** The end of the log of one job of a gate run: text of programs that the pull request brought. */
export interface JobLog {
  readonly name: string;
  /** Word of the forge, such as `failure`. */
  readonly result: string;
  /** Null: the job was not begun, or its log is gone. */
  readonly text: string | null;
  /** More came before it. */
  readonly isCut: boolean;
}

/**
 * `jobs`: those that failed, else all, in the order of the forge. `not_offered`: the API of this version gives no logs.
 * `no_run`: the forge knows no such run any more.
 */
export type RunLog =
  | { readonly kind: 'jobs'; readonly jobs: readonly JobLog[] }
  | { readonly kind: 'not_offered' | 'no_run' };

/** Logs of gate runs, read with the token of the bot. Throws `ForgeError`. */
export interface ForgeLog extends RepoIdReader {
  /** `url`: page of the run, as the gate was read with it. */
  readRunLog(run: { readonly sha: CommitSha; readonly url: string }): Promise<RunLog>;
}
