import { measure, percentile } from '../measure.ts';
import { planPullRequests, type Scenario } from '../workload.ts';
import { runsBound } from './bounds.ts';
import { type Figures, playModel } from './model.ts';
import { PEERS } from './peers/index.ts';
import { Reference } from './reference/reference.ts';
import { REFERENCES } from './reference/settings.ts';
import type { ModelQueue } from './world.ts';

/** Means over the plans of one workload; waits in gate durations. */
export interface Line {
  readonly runs: number;
  readonly p50: number;
  readonly p95: number;
  readonly wrong: number;
  readonly good: number;
  readonly unproven: number;
  readonly red: number;
}

/** One workload, all queues side by side. */
export interface Comparison {
  readonly scenario: Scenario;
  readonly bound: number;
  readonly ours: ReadonlyMap<number, Line>;
  readonly references: ReadonlyMap<number, Line>;
  readonly peers: ReadonlyMap<string, Line>;
}

const PLANS_MAX = 100;

export const FANOUTS: readonly number[] = Object.keys(REFERENCES).map(Number);

/** The plans of a workload have seeds of their own: no two workloads share their luck. */
export function compare(
  scenario: Scenario,
  fanouts: readonly number[],
  { seed: first, plans }: { readonly seed: number; readonly plans: number },
): Comparison {
  const seeds = Array.from({ length: plans }, (_, index) => first * PLANS_MAX + index);
  const model = (create: () => ModelQueue): Line =>
    lineOf(seeds.map((seed) => playModel(scenario, planPullRequests(scenario, seed), seed, create())));
  const references = fanouts.flatMap((fanout) => {
    const settings = REFERENCES[fanout];
    return settings === undefined ? [] : [[fanout, model(() => new Reference(settings, scenario))] as const];
  });
  return {
    scenario,
    bound: runsBound(scenario),
    ours: new Map(
      fanouts.map((fanout) => [fanout, lineOf(seeds.map((seed) => ours(scenario, fanout, seed)))]),
    ),
    references: new Map(references),
    peers: new Map(PEERS.map((create) => [create().name, model(create)] as const)),
  };
}

function ours(scenario: Scenario, fanout: number, seed: number): Figures {
  const measured = measure({ scenario, fanout, seed, cold: false });
  return { ...measured, runs: measured.begun };
}

function lineOf(figures: readonly Figures[]): Line {
  const mean = (of: (each: Figures) => number): number =>
    figures.reduce((sum, each) => sum + of(each), 0) / Math.max(1, figures.length);
  const sum = (of: (each: Figures) => number): number => mean(of) * figures.length;
  return {
    runs: mean((each) => each.runs / Math.max(1, each.landed)),
    p50: mean((each) => percentile(each.landTimes, 0.5) ?? 0),
    p95: mean((each) => percentile(each.landTimes, 0.95) ?? 0),
    wrong: sum((each) => each.wrongBounces),
    good: sum((each) => each.good),
    unproven: sum((each) => each.unproven),
    red: sum((each) => each.red),
  };
}
