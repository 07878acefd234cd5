import { measure, percentile } from './measure.ts';
import { planPullRequests, type Scenario, withIncidents } from './workload.ts';

/** Waits in gate durations, all seeds together; null: none landed. */
export interface IncidentRow {
  readonly scenario: string;
  readonly fanout: number;
  readonly incidents: number;
  readonly incident_p50: number | null;
  readonly incident_p95: number | null;
  /** All others, with incidents among them and where these have no label. */
  readonly others_p95: number | null;
  readonly others_p95_before: number | null;
  readonly runs_more_pct: number;
  readonly unproven: number;
  readonly lost: number;
}

export const INCIDENT_SHARE = 0.02;

/** The same pull requests twice, seed by seed: with the label of an incident on some, and with none. */
export function measureIncidents(
  scenario: Scenario,
  fanout: number,
  seeds: readonly number[],
  share: number = INCIDENT_SHARE,
): IncidentRow {
  const incidents: number[] = [];
  const others: number[] = [];
  const before: number[] = [];
  const sum = { runs: 0, runsBefore: 0, unproven: 0, lost: 0 };
  for (const seed of seeds) {
    const plain = planPullRequests(scenario, seed);
    const planned = withIncidents(plain, share, seed);
    const urgent = new Set(planned.filter((each) => each.isIncident).map(({ number }) => number));
    const shared = { scenario, fanout, seed, cold: false };
    const [marked, unmarked] = [measure({ ...shared, planned }), measure({ ...shared, planned: plain })];
    for (const [number, wait] of marked.landedAfter) (urgent.has(number) ? incidents : others).push(wait);
    for (const [number, wait] of unmarked.landedAfter) if (!urgent.has(number)) before.push(wait);
    sum.runs += marked.runs;
    sum.runsBefore += unmarked.runs;
    sum.unproven += marked.unproven + marked.red;
    sum.lost += marked.lost;
  }
  return {
    scenario: scenario.name,
    fanout,
    incidents: incidents.length,
    incident_p50: percentile(incidents, 0.5),
    incident_p95: percentile(incidents, 0.95),
    others_p95: percentile(others, 0.95),
    others_p95_before: percentile(before, 0.95),
    runs_more_pct: (100 * (sum.runs - sum.runsBefore)) / Math.max(1, sum.runsBefore),
    unproven: sum.unproven,
    lost: sum.lost,
  };
}
