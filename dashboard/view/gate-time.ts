import { secondsBetween, showDuration } from './format.ts';
import type { BatchNode } from './tree.ts';

/** So few gate runs teach nothing. */
const RUNS_MIN = 5;

/**
 * Median in seconds of what the nodes took that a gate run of their own judged, from their begin to their end: of one that
 * landed its merges are in it. Null: too few are known.
 */
export function usualGateSeconds(rows: readonly BatchNode[]): number | null {
  const took = rows
    .filter((row) => row.gate_source === null && ['success', 'failure'].includes(row.gate_verdict))
    .flatMap(({ created_at: from, resolved_at: to }) => {
      const seconds = to === null ? null : secondsBetween(from, Date.parse(to));
      return seconds === null ? [] : [seconds];
    })
    .toSorted((one, other) => one - other);
  return took.length < RUNS_MIN ? null : (took[Math.floor(took.length / 2)] ?? null);
}

/** `usually 12 min, 4 min so far`; without a usual time `4 min so far`. */
export function sayGateTime(usual: number | null, since: string, now: number): string {
  const soFar = `${showDuration(secondsBetween(since, now))} so far`;
  return usual === null ? soFar : `usually ${showDuration(usual)}, ${soFar}`;
}
