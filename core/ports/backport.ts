import type { Commit } from '../domain/forge.ts';
import type { CommitSha, PullRequestNumber, RepoId, TreeHash } from '../domain/ids.ts';
import type { PatchRequest } from './forge.ts';
import type { PullLink } from './forge-admin.ts';

export interface LandedPull {
  readonly title: string;
  /** Login; '' where the account is gone. */
  readonly author: string;
  readonly labels: readonly string[];
  /** Null: it is not merged. */
  readonly mergeCommit: CommitSha | null;
}

/** The calls that carry a landed change to another branch, and none that moves a branch which people have. Throws `ForgeError`. */
export interface BackportForge {
  readLanded(pr: PullRequestNumber): Promise<LandedPull>;
  /** The whole change with its binary files; null where it is no text in UTF-8, which the forge takes no patch of. */
  readDiff(pr: PullRequestNumber): Promise<string | null>;
  /** Null: there is no such branch. */
  readBranchTip(branch: string): Promise<CommitSha | null>;
  readCommit(sha: CommitSha): Promise<Commit>;
  readTreeId(sha: CommitSha): Promise<TreeHash>;
  applyPatch(request: PatchRequest): Promise<Commit>;
  /** Gone already is fine. */
  deleteBranch(branch: string): Promise<void>;
  /** A pull request of a branch of this repository into `base`: an open one, or one that was closed or merged lately. */
  findPull(base: string, head: string): Promise<PullLink | null>;
  openPull(pull: {
    readonly base: string;
    readonly head: string;
    readonly title: string;
    readonly body: string;
  }): Promise<PullLink>;
  /** A remark on a pull request that approves nothing and rejects nothing. */
  remark(pr: PullRequestNumber, body: string): Promise<void>;
}

/** Has the landings of a repository carried by the one function that may. Returns before that is done. */
export interface BackportAsker {
  ask(repoId: RepoId): Promise<void>;
}
