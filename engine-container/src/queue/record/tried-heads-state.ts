import type { CommitSha, EpochMs, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';

/** Native merge time-outs per exact head (A21). */
export interface MergeTimeoutCount {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  count: number;
}

export const BOUNCE_CAUSES = ['merge_timeout', 'fork_merge_timeout'] as const;

/** Out of the queue until its head or its schedule changes. */
export interface Bounced {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly scheduleId: number;
  /** A merge that never came, of a fork without its blame; absent: the gate failed, or an older record does not tell. */
  readonly cause?: (typeof BOUNCE_CAUSES)[number] | undefined;
  /** The failure of the gate on this head; absent: bounced for another cause, or told by an older record or its words alone. */
  readonly verdict?: KnownVerdict | undefined;
  /** The words with which it was told again for this schedule; absent: it was tested for it. */
  readonly again?: KnownVerdictReason | undefined;
}

export interface KnownVerdict {
  /** Tree that the head failed on, which is proven: with nothing landed since, the one that it would be staged on. */
  readonly baseTree: TreeHash;
  /** Times that it was tested to the end on this tree; each may take several gate runs. */
  readonly times: number;
  readonly runUrl: string | null;
  /** When the latest of these ended; absent: kept by an older version. */
  readonly at?: EpochMs;
}

export const KNOWN_VERDICT_REASONS = ['verdict_known', 'retest_spent'] as const;
export type KnownVerdictReason = (typeof KNOWN_VERDICT_REASONS)[number];

/** Schedules with which a batch was opened for a head, whichever pull request it headed. */
export interface HeadAttempts {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  /** The latest of them. */
  readonly scheduleId: number;
  readonly times: number;
}
