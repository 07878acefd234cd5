import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';

export interface StagedHead {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
}

/** A head that an earlier record had in flight. */
export interface EarlierHead extends StagedHead {
  /** That record had told with its last write that a success may stand here. Absent: it was staged, no more is known. */
  readonly mayStand?: true;
  /** No record told of this head, and it could not be read: it holds up the others until then at most. Absent: a record told of it. */
  readonly until?: EpochMs;
}

/** The heads of earlier records that were lost, or deleted with their queue, until each of them was read. */
export interface Recalling {
  /** Who was in flight then: a success may stand on their heads that no other look would find. */
  recall?: readonly PullRequestNumber[];
  /** Heads that these had then, whichever they have now. */
  recallHeads?: readonly EarlierHead[];
  /** Contexts of these records: a success under one of them is taken back, no matter who wrote it. */
  recallContexts?: readonly string[];
  /** Since when they are looked for; absent: not at all, or since an older version. */
  recalledAt?: EpochMs;
  /** A success of an earlier record may be carried out until then: nothing is staged or lands. Absent: none may. */
  lateUntil?: EpochMs;
  /** This may be an earlier record that was put back: nothing is staged or lands before a look has tried to read each open head. */
  reread?: Reread;
}

export interface Reread {
  /** Open pull requests whose heads no look has come to; null: not listed yet. */
  readonly untried: readonly PullRequestNumber[] | null;
}

/** Heads that were not read yet and may open a merge on a base that nothing was proven on. */
export function unreadStanding(
  { recall = [], recallHeads = [] }: Recalling,
  at: EpochMs,
): readonly EarlierHead[] {
  return recallHeads.filter(
    ({ pr, mayStand, until }) =>
      mayStand === true && recall.includes(pr) && (until === undefined || at < until),
  );
}
