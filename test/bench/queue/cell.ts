import { type Dial, dialOf } from '../../../engine-container/src/queue/policy.ts';
import { type Measurement, measure, percentile } from './measure.ts';
import type { Scenario } from './workload.ts';

/** One scenario at one fan-out. */
export interface Cell {
  readonly scenario: Scenario;
  readonly fanout: number;
  readonly seeds: number;
  readonly firstSeed: number;
  readonly cold: boolean;
  readonly without: readonly Piece[];
  /** Other settings than the dial's. */
  readonly settings: Partial<Dial>;
}

/** What can be taken away from the policy, to see what it is worth. */
const PIECES = {
  pipelining: (dial: Dial): Dial => ({ ...dial, depth: 1 }),
  isolation: (dial: Dial): Dial => ({ ...dial, isolates: false }),
  screening: (dial: Dial): Dial => ({ ...dial, triesBeside: false }),
  elastic: (dial: Dial): Dial => ({ ...dial, elastic: false }),
  cuts: (dial: Dial): Dial => ({ ...dial, cuts: 1 }),
  flakes: (dial: Dial): Dial => ({ ...dial, weighsFlakes: false }),
  learning: (dial: Dial): Dial => ({ ...dial, learns: false }),
  rejoining: (dial: Dial): Dial => ({ ...dial, rejoins: false }),
  foresight: (dial: Dial): Dial => ({ ...dial, foresees: false }),
  sharing: (dial: Dial): Dial => ({ ...dial, sharesSlots: false }),
  ledger: (dial: Dial): Dial => ({ ...dial, trustsLedger: false }),
} as const;
export type Piece = keyof typeof PIECES;
export const PIECE_NAMES = Object.keys(PIECES) as readonly Piece[];

export interface Row {
  readonly scenario: string;
  readonly fanout: number;
  readonly seeds: number;
  readonly runs_per_landed: number | null;
  readonly land_p50: number | null;
  readonly land_p95: number | null;
  readonly bounce_p95: number | null;
  readonly wrong_bounce_pct: number | null;
  readonly superseded_pct: number | null;
  readonly unproven: number;
  readonly red: number;
  /** Good pull requests that neither landed nor were bounced: none. */
  readonly lost: number;
}

export function runCell({ scenario, fanout, seeds, firstSeed, cold, without, settings }: Cell): Row {
  const dial = without.reduce((each, piece) => PIECES[piece](each), { ...dialOf(fanout), ...settings });
  const results = Array.from({ length: seeds }, (_, index) =>
    measure({ scenario, fanout, seed: firstSeed + index, cold, dial }),
  );
  return summarize(scenario, fanout, results);
}

function mean(values: readonly (number | null)[]): number | null {
  const there = values.filter((value) => value !== null);
  return there.length === 0 ? null : there.reduce((sum, value) => sum + value, 0) / there.length;
}

function summarize(scenario: Scenario, fanout: number, results: readonly Measurement[]): Row {
  const round = (value: number | null) => (value === null ? null : Math.round(value * 1000) / 1000);
  return {
    scenario: scenario.name,
    fanout,
    seeds: results.length,
    runs_per_landed: round(mean(results.map((result) => result.runs / Math.max(1, result.landed)))),
    land_p50: round(mean(results.map((result) => percentile(result.landTimes, 0.5)))),
    land_p95: round(mean(results.map((result) => percentile(result.landTimes, 0.95)))),
    bounce_p95: round(mean(results.map((result) => percentile(result.bounceTimes, 0.95)))),
    wrong_bounce_pct: round(mean(results.map((result) => (100 * result.wrongBounces) / result.good))),
    superseded_pct: round(
      mean(results.map((result) => (100 * result.superseded) / Math.max(1, result.runs))),
    ),
    unproven: results.reduce((sum, result) => sum + result.unproven, 0),
    red: results.reduce((sum, result) => sum + result.red, 0),
    lost: results.reduce((sum, result) => sum + result.lost, 0),
  };
}
