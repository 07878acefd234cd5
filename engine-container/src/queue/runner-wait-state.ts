import type { EpochMs } from '#core/domain/ids.ts';

/** The wait of a gate run for a runner, until it was first seen to run; what waits later is between two of its jobs. */
export interface RunnerWait {
  /** The latest look that saw it wait; where it never was, when it was staged. */
  readonly until: EpochMs;
  readonly isOver: boolean;
  /** Labels that its runner has to have; null: the forge does not tell them. Absent: not asked yet. */
  readonly labels?: readonly string[] | null;
}
