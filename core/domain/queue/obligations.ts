import type { CommitSha, EpochMs, PullRequestNumber } from '../ids.ts';

/**
 * The obligations of the queue of one repo on the forge, after its last step. The service reads them, and never the
 * view for people, before it stops a queue, cancels a scheduled merge or deletes the rows of a repo.
 */
export interface Obligations {
  readonly at: EpochMs;
  /** A batch, a status or a branch of the queue is on the forge or is owed to it: the queue is wound down before it is left alone. */
  readonly open: boolean;
  /** A success of the queue is on a head, or on its way there, and is not taken back. */
  readonly successStands: boolean;
  /** Pull requests that are staged or landing. */
  readonly inFlight: readonly PullRequestNumber[];
  /** The queue is empty and not stopped, and nothing is open: it has nothing to do until the forge or its settings change. */
  readonly atRest: boolean;
  /** Null: no success may stand, and no last word is owed. */
  readonly left: LeftHeads | null;
  /** The id that the forge gave the repository: a record that is lost takes it over from here. Absent: not known. */
  readonly repoId?: number;
}

/** Where a success of the queue may stand, or a last word is still to be written. */
export interface LeftHeads {
  /** Status context that it stands under. */
  readonly context: string;
  /** Pull requests whose present heads are meant, whichever these are. */
  readonly prs: readonly PullRequestNumber[];
  readonly heads: readonly LeftHead[];
}

export interface LeftHead {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  /** A last word is owed here, and no success stands or is on its way. Absent: one may, or an older version told it. */
  readonly isMereWord?: true;
}
