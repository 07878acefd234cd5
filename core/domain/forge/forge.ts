import type { BlobId, CommitSha, EpochMs, PullRequestNumber, TreeHash } from '../ids.ts';
import type { MergeStyle } from '../repos/merge-style.ts';

/** The full name of a branch, which no tag can have. */
export function branchRef(name: string): string {
  return `refs/heads/${name}`;
}

/** The forge's account of one pull request. `head.sha` is live; `base.sha` is the current tip of the base branch. */
export interface PullRequest {
  readonly number: PullRequestNumber;
  /** Of the repository of its base (`readRepoId`); absent: the forge does not tell. */
  readonly repoId?: number;
  readonly title: string;
  readonly state: 'open' | 'closed';
  readonly draft: boolean;
  /** False also means "still checking" (forge facts, 2). */
  readonly mergeable: boolean;
  readonly merged: boolean;
  readonly mergeCommitSha: CommitSha | null;
  /** Stored at the forge's last conflict check; null when the forge has none. */
  readonly mergeBase: CommitSha | null;
  readonly baseRef: string;
  /** Current tip of the base branch, not the fork point. */
  readonly baseTip: CommitSha;
  readonly headRef: string;
  readonly headSha: CommitSha;
  /** True when the head lives in another repository. */
  readonly fromFork: boolean;
  /** True when the head was pushed to `refs/for/…` (AGit): no branch has it, and who can read the repository can push it. */
  readonly agit: boolean;
  /** Its branch is gone, and with it the automatic merge; absent: it is there, or it never had one. */
  readonly isBranchGone?: true;
  /** The repository of its base takes no contents; a `success` and the automatic merge after it are carried out all the same. */
  readonly isArchived?: true;
  /** Merge styles that the repository of its base allows; absent: the forge does not tell. */
  readonly allowedStyles?: readonly MergeStyle[];
  readonly author: string;
  /** Names; absent: it has none. */
  readonly labels?: readonly string[];
  /** Resolution 1 s; moved by every timeline entry. */
  readonly updatedAt: EpochMs;
}

/** `dependency`: one was added to it or to what it stands before, or taken away. */
const TIMELINE_KINDS = [
  'scheduled',
  'cancelled',
  'pushed',
  'reopened',
  'retargeted',
  'dependency',
  'labelled',
  'unlabelled',
  'other',
] as const;

/** One entry of a pull request's timeline that the queue cares about, oldest first. */
export interface TimelineEntry {
  readonly id: number;
  readonly kind: (typeof TIMELINE_KINDS)[number];
  readonly at: EpochMs;
  readonly user: string;
  /** Newest commit of a push; null for other kinds and where unreadable. */
  readonly newHead: CommitSha | null;
  /** Branch that it targeted before; absent for other kinds, and where unreadable. */
  readonly baseBefore?: string;
  /** Name of the label that was put on or taken off; absent for other kinds. */
  readonly label?: string;
}

export interface Review {
  readonly id: number;
  readonly user: string;
  readonly state: 'approved' | 'changes_requested' | 'review_requested' | 'comment' | 'other';
  readonly official: boolean;
  readonly stale: boolean;
  readonly dismissed: boolean;
  readonly commit: CommitSha | null;
  readonly at: EpochMs;
}

/**
 * The right of an account to write the code of a repository, as far as the bot may know. `listed`: the account is in the
 * forge's list of those who can be given work, which by a team may hold readers too. `unlisted`: it is not in that list,
 * which holds all who may write but administrators of the forge and members of few teams. The bot may not read more of
 * either.
 */
export type WriteRight = 'yes' | 'no' | 'listed' | 'unlisted';

/** The branch rule that governs the base. `scope` says how much of it the bot may read. */
export interface BranchProtection {
  readonly scope: 'full' | 'summary';
  readonly ruleName: string | null;
  readonly statusCheckEnabled: boolean;
  readonly requiredContexts: readonly string[];
  readonly requiredApprovals: number;
  readonly blockOnRejectedReviews: boolean;
  readonly blockOnOfficialReviewRequests: boolean;
  readonly blockOnOutdatedBranch: boolean;
  readonly ignoreStaleApprovals: boolean;
  readonly dismissStaleApprovals: boolean;
  readonly directPushAllowed: boolean;
  /** The rule names people who may merge without what it asks for. Absent: it names none, or that is not readable. */
  readonly bypassAllowed?: true;
  /** Who may write pushes changes of some files past the rule. Absent: of none, or that is not readable. */
  readonly filesPushable?: true;
  /** Who changes a file that one of these matches is never merged by itself; absent: none, or not readable. */
  readonly protectedFilePatterns?: readonly string[];
  /** Only these may merge, and the members of `mergeTeams`. Absent: there is no such list, or it is not readable. */
  readonly mergeList?: readonly string[];
  /** Teams that this list names; absent: none. */
  readonly mergeTeams?: readonly string[];
  /** The forge merges only what it signs, and no API tells whether it has a key. Absent: it need not sign, or that is not readable. */
  readonly requiresSigned?: boolean;
}

/** The issues and pull requests that have to be closed before a pull request is merged. */
export interface DependencyCount {
  readonly open: number;
  /** In repositories that the asker may not see: each is open or closed. */
  readonly hidden: number;
}

export interface CommitStatus {
  readonly context: string;
  /** As the forge has it. */
  readonly state: string;
  readonly description: string;
  readonly creator: string;
  readonly createdAt: EpochMs;
}

/** Does it keep no required check from passing? What was skipped does not, on a forge of either kind (forge facts, 7). */
export function isPass({ state }: Pick<CommitStatus, 'state'>): boolean {
  return state === 'success' || state === 'skipped';
}

/** Words of state that open a merge on no forge. */
const CLOSED_STATES = ['pending', 'error', 'failure'];

/**
 * May a status of this state open a merge that asks for its context? Some versions take a warning, or any word that they do
 * not know, for passed (forge facts, 7).
 */
export function mayOpenMerge({ state }: Pick<CommitStatus, 'state'>): boolean {
  return !CLOSED_STATES.includes(state);
}

export interface Commit {
  readonly sha: CommitSha;
  readonly tree: TreeHash;
  readonly parents: readonly CommitSha[];
  readonly message: string;
}

/** Mode as git writes it: 100644, 100755, 120000 (symlink), 160000 (submodule), 040000 (directory). */
export interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly id: BlobId;
  /** Bytes of a file; null or absent = not told. */
  readonly size?: number | null;
}

/** The entries below a tree, directories included. A name that is not UTF-8 comes as something else, so hash it. */
export interface TreeListing {
  readonly tree: TreeHash;
  /** In git's order; null = too many for one answer. */
  readonly entries: readonly TreeEntry[] | null;
}

/** Whose pushes begin a gate run that counts: of our own branches ours alone, of a branch of people those of any account. */
export type GateStarter = 'us' | 'any';

/** The known state of the gate run of one staged commit (A11, A12). */
export type GateReading =
  | {
      readonly kind: 'none';
      /** Runs that would count, had the push of another account not begun each of them. */
      readonly isOfOthers?: true;
    }
  | {
      readonly kind: 'running';
      readonly runId: string;
      readonly url: string | null;
      /** No runner has a job of it right now, and the forge says so. Absent: one has, or it is not known. */
      readonly waitsForRunner?: true;
      /** Each job that is told has passed, and the forge may tell of more for this time, ms. No event marks its end. */
      readonly settlesInMs?: number;
    }
  | {
      readonly kind: 'finished';
      readonly verdict: 'success' | 'failure' | 'cancelled' | 'error';
      readonly runId: string;
      readonly url: string | null;
      /** The workflow has no jobs, or its conditions kept each of them from running: another try ends the same way. */
      readonly isSkipped?: true;
      /** A job of it may be told a moment later. Absent: all are told. */
      readonly isOpenEnded?: true;
    };

export type PostedState = 'pending' | 'success' | 'error';

/** A reference that keeps git from holding another one: `a` and `a/b` exclude each other, and on a forge so do a tag and a branch. */
export interface RefInTheWay {
  readonly kind: 'branch' | 'tag';
  readonly name: string;
}
