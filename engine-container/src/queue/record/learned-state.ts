import type { EpochMs } from '#core/domain/ids.ts';
import type { AutoFanout } from '../policy/auto-fanout.ts';
import type { Forecast } from '../policy/forecast.ts';
import type { OutcomeRate } from '../policy/rate.ts';

/** So many gate runs went on while one waited, first or again at this time, and so many times in a row before. */
export interface RunnersKnown {
  readonly count: number;
  readonly at: EpochMs;
  readonly again: number;
}

/** So many gate runs went on at once at this time while another waited for a runner, and the latest of them was staged then. */
export interface BegunLately {
  readonly count: number;
  readonly at: EpochMs;
  readonly stagedAt: EpochMs;
}

/** Patches of this repository are slow (decision 0352). */
export interface SlowPatches {
  /** They are taken to be so until then. */
  readonly until: EpochMs;
  /** The latest slow one got no answer. */
  readonly isGivenUp: boolean;
}

/** The part of the record that experience has taught: it sizes and chooses, and proves nothing. */
export interface Learned {
  rate: OutcomeRate;
  /** Gate runs that the runners take at once, by what the forge said of the waiting ones: 1 to `BISECT_FANOUT_MAX`; absent: not known. */
  runnersSeen?: number;
  /** When that showed last; absent: not known, or kept by an older version. */
  runnersKnown?: RunnersKnown;
  /** Absent: no gate run waits for a runner. */
  begunLately?: BegunLately;
  /** Which fan-out the engine chose, and of what; absent: the settings name one. */
  autoFanout?: AutoFanout;
  /** Absent: they are not, as far as is known. */
  slowPatches?: SlowPatches;
  /** Outcomes of pull requests by what was known of them before; absent: nothing was known of any. */
  forecast?: Forecast;
}
