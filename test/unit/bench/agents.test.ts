import { measureAgents } from '../../bench/queue/agents.ts';

/** The workload of people beside an agent that schedules what failed again and again. */
test('the loops of an agent are told again and take no run, and all others land', () => {
  const shared = { fanout: 4, seeds: [1, 2], hours: 1, peoplePerHour: 8, agentsPerHour: 40 };
  const row = measureAgents({ ...shared, loops: 3 });
  expect(row.scheduled_again).toBeGreaterThan(0);
  expect([row.scheduled_again % 3, row.runs_again, row.unproven, row.lost]).toEqual([0, 0, 0, 0]);
  expect(measureAgents({ ...shared, loops: 0 }).runs).toBe(row.runs);
});
