import type { BranchProtection, PullRequest } from '../domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '../domain/ids.ts';
import type { MergeStyle } from '../domain/repos/merge-style.ts';
import type { ManagedRepo } from '../domain/repos/repo.ts';
import type { Secret } from '../secret.ts';
import type { RepoIdReader } from './repo-id.ts';

export type SeenPull = Pick<PullRequest, 'state' | 'merged' | 'headSha' | 'baseRef' | 'mergeable'>;

/** The calls that a person makes with a forge token of their own; what it may do, the forge decides. Throws `ForgeError`. */
export interface ForgePerson extends RepoIdReader {
  /** Whose token it is. `isJob`: that of a job of a workflow, which stands for no person. */
  readAccount(): Promise<{ readonly login: string; readonly isJob: boolean }>;
  readPull(pr: PullRequestNumber): Promise<SeenPull>;
  /** The rule that governs `base`; null when none does. */
  readProtection(base: string): Promise<BranchProtection | null>;
  /** "Merge when checks succeed". `refused`: the forge's own no, whose words are not passed on. */
  schedule(
    pr: PullRequestNumber,
    style: MergeStyle,
    head: CommitSha,
  ): Promise<'scheduled' | 'already' | 'refused'>;
  cancel(pr: PullRequestNumber): Promise<'cancelled' | 'not_scheduled'>;
}

export type OpenForgePerson = (
  repo: Pick<ManagedRepo, 'instanceUrl' | 'slug'>,
  token: Secret<string>,
) => ForgePerson;
