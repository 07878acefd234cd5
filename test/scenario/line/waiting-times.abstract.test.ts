import { summarizeWeek } from '#core/domain/queue/activity.ts';
import { known, UNKNOWN } from '#core/domain/result.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

const MINUTE_MS = 60_000;

test('a pull request that was seen late has waited since it was scheduled (D-22)', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const dayStart = world.clock.now();
  await givenScheduled(world.forge, 'a');
  const scheduledAt = world.clock.now();
  await world.clock.advance(4 * MINUTE_MS);
  await world.drain();
  const { tenantId } = (await world.events())[0] ?? { tenantId: '' };
  const events = await world.store.readEventsSince(tenantId, 0, 100);
  const landedAt = events?.find((each) => each.event === 'pr_landed')?.at ?? 0;
  const { timeInQueueP50Ms } = summarizeWeek({ events: known(events ?? []), batches: UNKNOWN, dayStart });
  // The forge's time stamps are whole seconds.
  expect(timeInQueueP50Ms).toBeGreaterThanOrEqual(landedAt - scheduledAt);
  expect(timeInQueueP50Ms).toBeLessThan(landedAt - scheduledAt + 1_000);
});
