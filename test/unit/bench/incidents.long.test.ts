import { measureIncidents } from '../../bench/queue/incidents.ts';
import type { Scenario } from '../../bench/queue/workload.ts';

test('with slots, incidents wait two gate durations at most, and the others hardly longer than without the label', () => {
  const scenario: Scenario = {
    name: 'workload',
    n: 60,
    p: 0.03,
    arrivals: { kind: 'poisson', rate: 4 },
    ci: { kind: 'fixed', D: 30 },
  };
  const row = measureIncidents(scenario, 8, [1, 2], 0.05);
  expect(row.incidents).toBe(3);
  expect(row.incident_p95).toBeLessThanOrEqual(2);
  expect((row.others_p95 ?? 0) / (row.others_p95_before ?? 1)).toBeLessThanOrEqual(1.1);
  expect(row.runs_more_pct).toBeLessThanOrEqual(10);
  expect([row.unproven, row.lost]).toEqual([0, 0]);
});
