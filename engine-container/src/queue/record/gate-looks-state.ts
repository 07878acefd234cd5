import type { EpochMs } from '#core/domain/ids.ts';
import type { HeardEvents } from '#core/domain/wakes/heard-events.ts';

/** Polls of the gates where an event tells of each verdict. */
export interface GateLooks {
  /** The next rare poll; absent: the gates are polled as where no event comes, or none is out. */
  readonly at?: EpochMs;
  /** When a rare poll found a verdict that no event had told of, by the kind that would have; absent: never. */
  readonly missedAt?: HeardEvents;
}

/** A gate that staging did not find. It lasts over the looks at which something else stands in the way. */
export interface MissingGate {
  /** The gate that was searched for (`describeWanted`). */
  readonly gate: string;
  /** The first staging that missed it. Names what is told of it, so it stays where the clock is set. */
  readonly since: EpochMs;
}

/** The wait of a gate run for a runner, until it was first seen to run; what waits later is between two of its jobs. */
export interface RunnerWait {
  /** The latest look that saw it wait; where it never was, when it was staged. */
  readonly until: EpochMs;
  readonly isOver: boolean;
  /** Labels that its runner has to have; null: the forge does not tell them. Absent: not asked yet. */
  readonly labels?: readonly string[] | null;
}
