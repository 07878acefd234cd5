/** The experience with a repo: counts that fade, for the size of batches and for the weight of a failure. */
export interface OutcomeRate {
  readonly landed: number;
  readonly bounced: number;
  /** Gate runs of trees known to be good: those that passed, and those that failed all the same. */
  readonly steady: number;
  readonly flaked: number;
  /** How long gate runs take, by how many were out when they started: 1, 2, up to 4, 8, 16. */
  readonly paces: readonly Pace[];
  /** The same as the first two, of those alone that had passed on an older base before; absent: none had. */
  readonly passedBefore?: { readonly landed: number; readonly bounced: number } | undefined;
}

/** Durations of the gate under one load, and how many recent gate runs they speak of. */
export interface Pace {
  /** Smoothed geometric mean. */
  readonly ms: number;
  readonly runs: number;
  /** Smoothed variance of the natural logarithm; absent in records of before. */
  readonly spread?: number | undefined;
}

export const NO_HISTORY: OutcomeRate = { landed: 0, bounced: 0, steady: 0, flaked: 0, paces: [] };
