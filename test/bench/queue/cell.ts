import {
  type PolicyPieces,
  policyOf,
  type SpeculationPolicy,
} from '../../../engine-container/src/queue/policy/policy.ts';
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
  /** Other settings than the speculation policy's. */
  readonly settings: Partial<SpeculationPolicy>;
}

/** Pieces that can be taken away, to measure their worth: those of the policy, and two of its numbers. */
export const PIECE_NAMES = [
  'pipelining',
  'cuts',
  ...(Object.keys(policyOf(1).pieces) as (keyof PolicyPieces)[]),
] as const;
export type Piece = (typeof PIECE_NAMES)[number];

export function takeAway(policy: SpeculationPolicy, piece: Piece): SpeculationPolicy {
  if (piece === 'pipelining') return { ...policy, depth: 1 };
  if (piece === 'cuts') return { ...policy, cuts: 1 };
  return { ...policy, pieces: { ...policy.pieces, [piece]: false } };
}

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
  const policy = without.reduce(takeAway, { ...policyOf(fanout), ...settings });
  const results = Array.from({ length: seeds }, (_, index) =>
    measure({ scenario, fanout, seed: firstSeed + index, cold, policy }),
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
