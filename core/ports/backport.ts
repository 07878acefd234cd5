import type { Commit } from '../domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber, RepoId, TreeHash } from '../domain/ids.ts';
import type { BackportResult } from '../domain/pulls/backport.ts';
import type { PatchRequest, TreeReader } from './forge.ts';
import type { PullLink } from './forge-admin.ts';
import type { RepoIdReader } from './repo-id.ts';

export interface LandedPull {
  readonly title: string;
  /** Login; '' where the account is gone. */
  readonly author: string;
  readonly labels: readonly string[];
  /** Null: the forge does not call it merged, or not yet (forge facts, 10). */
  readonly mergeCommit: CommitSha | null;
  /** As of the last conflict check; null: there was none. */
  readonly mergeBase: CommitSha | null;
}

/** The calls that carry a landed change to another branch, and none that moves a branch which people have. Throws `ForgeError`. */
export interface BackportForge extends TreeReader, RepoIdReader {
  readLanded(pr: PullRequestNumber): Promise<LandedPull>;
  /** Null: there is no such branch. */
  readBranchTip(branch: string): Promise<CommitSha | null>;
  readCommit(sha: CommitSha): Promise<Commit>;
  applyPatch(request: PatchRequest): Promise<Commit>;
  /** False: there was none, or none that the bot may see. */
  deleteBranch(branch: string): Promise<boolean>;
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

/** The outcome of a change on a branch. An empty patch: the branch has the change already. `unfinished`: the time was up. */
export type BackportPlan =
  | { readonly kind: 'plan'; readonly patch: string; readonly tree: TreeHash }
  | { readonly kind: 'refused'; readonly result: BackportResult }
  | { readonly kind: 'unfinished' };

/** Plans one landed change on branches as git merges, so that their trees are known before anything is written. */
export interface BackportPlanner {
  /** The change is the way from `before` to `after`. Throws `ForgeError`. */
  plan(on: CommitSha, before: CommitSha, after: CommitSha): Promise<BackportPlan>;
}

/** Reads by this forge alone, so that no repository is planned with the objects of another. */
export type OpenBackportPlanner = (forge: TreeReader, isOutOfTime: () => boolean) => BackportPlanner;

/** Has the landings of a repository carried by the one function that may. Returns before that is done. */
export interface BackportAsker {
  ask(repoId: RepoId): Promise<void>;
}
