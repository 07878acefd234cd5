import type { PlannedPullRequest as PullRequest } from '../../workload.ts';
import type { ModelRun } from '../world.ts';
import type { Belief } from './belief.ts';

/** A batch that failed, or that is tried beside the pipeline, and what is known of its prefixes. */
export interface Suspects {
  list: PullRequest[];
  /** Failures by length of the prefix. */
  failures: Map<number, { runs: number; last: ModelRun }>;
  cuts: { length: number; readonly run: ModelRun }[];
}

const UNLIKELY = 0.1;

/** Chance of each to be the first bad one, and, last, that none is. */
export function firstBad(belief: Belief, { list, failures }: Suspects): readonly number[] {
  const weights: number[] = [];
  let allGood = 1;
  let flakes = 1;
  for (const [index, pr] of list.entries()) {
    const good = belief.goodChance(pr);
    weights.push(allGood * (1 - good) * flakes);
    allGood *= good;
    flakes *= belief.flake ** (failures.get(index + 1)?.runs ?? 0);
  }
  weights.push(allGood * flakes);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Prefixes to run next: one at the optimal nested cut, several at the quantiles of the first bad one. */
export function chooseCuts(belief: Belief, suspects: Suspects, count: number): readonly number[] {
  const weights = firstBad(belief, suspects);
  const size = suspects.list.length;
  const shortest = Math.min(size, ...suspects.failures.keys());
  let reached = 0;
  const survival = weights.map((weight) => {
    reached += weight;
    return 1 - reached;
  });
  const isAlive = (length: number): boolean => (survival[length - 1] ?? 0) >= UNLIKELY;
  const isPlain = !suspects.list.slice(0, shortest).some((pr) => belief.cleared.has(pr));
  if (count === 1 && shortest > 1 && !isAlive(shortest) && suspects.cuts.length === 0 && isPlain)
    return [nestedCut(shortest, 1 - belief.bad)];
  const cuts: number[] = [];
  for (let each = 1; each <= count; each += 1) {
    const target = 1 - each / (count + 1);
    let best: { readonly length: number; readonly distance: number } | null = null;
    for (let length = 1; length <= size; length += 1) {
      if (cuts.includes(length) || (length >= shortest && shortest > 1 && !isAlive(length))) continue;
      const distance = Math.abs((survival[length - 1] ?? 0) - target);
      if (best === null || distance < best.distance - 1e-12) best = { length, distance };
    }
    if (best !== null) cuts.push(best.length);
  }
  return cuts;
}

const nestedTables = new Map<number, { readonly good: number; costs: number[]; cuts: number[] }>();
const TABLE_STEPS = 8;

/**
 * First cut of a group that fails, for the fewest expected runs until its first bad one is found (Sobel and Groll 1959).
 * Tables are kept for steps of an eighth in the logarithm of the bad share.
 */
export function nestedCut(size: number, good: number): number {
  const step = Math.round(Math.log(1 - good) * TABLE_STEPS);
  const table = nestedTables.get(step) ?? {
    good: 1 - Math.exp(step / TABLE_STEPS),
    costs: [0, 0],
    cuts: [0, 0],
  };
  nestedTables.set(step, table);
  for (let length = table.costs.length; length <= size; length += 1) {
    const fails = 1 - table.good ** length;
    let best = { cost: Number.POSITIVE_INFINITY, cut: 1 };
    for (let cut = 1; cut < length; cut += 1) {
      const before = (1 - table.good ** cut) / fails;
      const cost = 1 + before * (table.costs[cut] ?? 0) + (1 - before) * (table.costs[length - cut] ?? 0);
      if (cost < best.cost - 1e-12) best = { cost, cut };
    }
    table.costs.push(best.cost);
    table.cuts.push(best.cut);
  }
  return table.cuts[size] ?? 1;
}
