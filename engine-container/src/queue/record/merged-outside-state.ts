import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';

/** A move of the base without the queue, until it is known who was merged with it (A39). */
export interface OutsideMove {
  /** Last tip that the queue knew of. */
  readonly from: CommitSha;
  readonly to: CommitSha;
  readonly since: EpochMs;
  /** Landed by the queue shortly before, so their merges may be among those commits. */
  readonly own: readonly PullRequestNumber[];
}

/** A pull request that an event tells to be merged outside the queue. */
export interface Outsider {
  readonly pr: PullRequestNumber;
  /** Its merge commit; absent: not known. */
  readonly merge?: CommitSha;
  readonly at: EpochMs;
}
