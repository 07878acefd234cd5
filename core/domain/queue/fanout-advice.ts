import type { EpochMs } from '../ids.ts';

/** Gate runs at once that are compared; the one that is set is compared with them. */
export const ADVISED_FANOUTS = [1, 2, 4, 8, 16] as const;

export const NO_ADVICE_REASONS = [
  'too_few_pull_requests',
  'gate_times_unknown',
  'none_landed',
  'too_many_rows',
  'out_of_time',
] as const;
/** Why there is no advice. */
export type NoAdviceReason = (typeof NO_ADVICE_REASONS)[number];

/** The replayed pull requests with one fan-out. */
export interface FanoutReplay {
  readonly fanout: number;
  readonly landed: number;
  readonly runs: number;
  /** From the schedule to the landing; null: none landed. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly meanMs: number | null;
}

export interface FanoutAdvice {
  /** The one that is set; null: the engine chooses, or a settings file may set it. */
  readonly current: number | null;
  /** Null exactly when `reason` says why. */
  readonly advised: number | null;
  readonly reason: NoAdviceReason | null;
  /** Pull requests whose way through the queue was known well enough to be replayed. */
  readonly restsOn: number;
  /** Schedule of the first of them; null: there is none. */
  readonly since: EpochMs | null;
  /** Ascending by fan-out; empty without advice. */
  readonly replays: readonly FanoutReplay[];
}

/**
 * The least product of mean wait and gate runs for each landing: more gate runs are worth it as long as they shorten the wait by a larger
 * share than they add. Of equal ones the smallest. Null: none landed.
 */
export function chooseFanout(replays: readonly FanoutReplay[]): number | null {
  let best: { readonly fanout: number; readonly cost: number } | null = null;
  for (const { fanout, meanMs, runs, landed } of [...replays].sort(
    (one, other) => one.fanout - other.fanout,
  )) {
    if (meanMs === null) continue;
    const cost = meanMs * (runs / landed);
    if (best === null || cost < best.cost) best = { fanout, cost };
  }
  return best?.fanout ?? null;
}
