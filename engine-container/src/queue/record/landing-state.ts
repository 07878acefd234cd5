import type { CommitSha, EpochMs, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';

export interface Landing {
  readonly index: number;
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly baseBefore: CommitSha;
  readonly tree: TreeHash;
  /** Gate run, staged commit and tree that proved the batch this landing belongs to; no tree in records of before it was kept. */
  readonly proof: {
    readonly sha: CommitSha;
    readonly runUrl: string | null;
    readonly tree?: TreeHash;
    /** The run was one of a head; absent: of a staged commit. */
    readonly ofHead?: true;
  };
  /** Who scheduled this head; absent: not known. */
  readonly scheduledBy?: string;
  /** Who approved it officially; absent: not asked, or not kept. */
  readonly approvedBy?: readonly string[];
  readonly fence: number;
  readonly intentAt: EpochMs;
  /** When `success` was written; null = the intent stands, the post may or may not have happened. */
  postedAt: EpochMs | null;
  nudges: number;
  /** Since when each look finds it not mergeable; absent: the latest look found it mergeable. */
  unmergeableSince?: EpochMs;
  /** Times that it was asked what keeps the merge from coming; absent: never. */
  blockerLooks?: number;
  /** Posts of `success` that were wanted, and those that the forge answered; absent in records of before they were counted. */
  asked?: number;
  answered?: number;
  /** When the latest of them was sent, or may have been sent at the latest; absent in records of before it was kept. */
  askedAt?: EpochMs;
  /** How its pull request left the queue meanwhile; absent: it is in the queue, or left without words. */
  left?: Departure;
  /** `success` is taken back; concluded one grace period after that was written. */
  takeBack: {
    readonly reason: TakeBackReason;
    postedAt: EpochMs | null;
    /** The forge's answer to the question whether it still has the schedule; absent until then (E21). */
    schedule?: 'scheduled' | 'lost' | 'unknown';
    /** Timeline entry of the newest schedule when that was first asked; absent: not asked. */
    askedAfter?: number;
    /** Times that the forge failed on that question while it was otherwise well; absent: never. */
    probeFailures?: number;
  } | null;
}

/** How one leaves the queue whose head may still say that the queue goes on with it. */
export const DEPARTURES = [
  'auto_merge_cancelled',
  'cancelled_while_off',
  'draft',
  'closed',
  'retargeted',
  'merged_along',
  'left_the_queue',
] as const;
export type Departure = (typeof DEPARTURES)[number];

export type TakeBackReason =
  | 'merge_timeout'
  /** The forge calls it a conflict, since a check that ended after the `success`. */
  | 'merge_conflict'
  /** A rule of the forge keeps it from merging this one. */
  | 'merge_blocked'
  | 'base_advanced'
  | 'candidate_changed'
  | 'queue_disabled'
  /** An incident goes first. */
  | 'overtaken'
  /** The owner paused the queue. */
  | 'paused'
  /** The forge shows the repository as archived. */
  | 'archived'
  | 'context_changed'
  /** Another gate is asked for than the one that proved it. */
  | 'gate_changed'
  /** The run of a head that proved it does not say any more that it passed. */
  | 'own_run_lost'
  /** The forge took no `success` on this head. */
  | 'staging_failed';

/** The tree that a landing that ended without a merge was proven to make, and of which tip. */
export type GivenUp = Pick<Landing, 'pr' | 'head' | 'tree' | 'baseBefore'> & { readonly at: EpochMs };
