import { QueueWorld } from '../queue-world.ts';
import { givenScheduled } from '../stories.ts';

const sumOf = (world: QueueWorld, name: 'GateRuns' | 'Bounces' | 'ForgeCalls'): number =>
  world.measured.flatMap((figures) => figures[name] ?? []).reduce((sum, value) => sum + value, 0);

test('a reconcile measures what landed and after how long, what was bounced, gate runs, depth and calls, and names no repository', async () => {
  const world = new QueueWorld();
  await world.open();
  await givenScheduled(world.forge, 'a');
  await world.clock.advance(30_000);
  const bad = await givenScheduled(world.forge, 'b', 'BAD\n');
  await world.start();
  await world.pass(30 * 60_000, { until: async () => (await world.stateOf(bad)) === 'error' });
  const [waited = 0, ...others] = world.measured.flatMap(({ TimeToLand = [] }) => TimeToLand);
  expect([waited >= 30, waited < 1_800, others]).toEqual([true, true, []]);
  expect(sumOf(world, 'Bounces')).toBe(1);
  const rows = await world.rows();
  const counted = rows.filter(({ outcome }) => outcome !== 'running');
  expect(sumOf(world, 'GateRuns')).toBe(counted.reduce((sum, row) => sum + (row.gateRuns ?? 0), 0));
  expect(sumOf(world, 'ForgeCalls')).toBe(world.engineRuns);
  expect(Math.max(...world.measured.flatMap(({ QueueDepth = [] }) => QueueDepth))).toBeGreaterThan(0);
  expect(new Set(world.measured.map(({ size }) => size))).toEqual(new Set(['small']));
  expect(JSON.stringify(world.measured)).not.toContain(world.repo.slug);
});
