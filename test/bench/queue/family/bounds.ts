import type { Scenario } from '../workload.ts';

const entropy = (share: number): number =>
  share <= 0 || share >= 1 ? 0 : -share * Math.log2(share) - (1 - share) * Math.log2(1 - share);

/** Bits that a run tells which fails by itself this often (Z-channel). */
export function bitsPerRun(flake: number): number {
  return flake <= 0 ? 1 : Math.log2(1 + (1 - flake) * flake ** (flake / (1 - flake)));
}

/** Least expected runs per landed pull request: what there is to learn by what a run can tell. */
export function runsBound(scenario: Scenario): number {
  const bad = scenario.p ?? 0;
  return entropy(bad) / bitsPerRun(scenario.f ?? 0) / (1 - bad);
}
