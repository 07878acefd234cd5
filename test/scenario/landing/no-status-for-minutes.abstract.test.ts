import { landedOf, told } from '../hooks.ts';
import { givenThreeScheduled } from '../three-scheduled.ts';

/** A forge that reads and writes branches, and takes no status for some minutes: no pull request is at fault. */
const MINUTE = 60_000;

async function whereNoStatusIsTaken(minutes: number) {
  const { world, a, b, c } = await givenThreeScheduled();
  await world.drain({ until: () => world.forge.runs().length > 0 });
  const until = world.clock.now() + minutes * MINUTE;
  world.forge.fault = ({ method, path }) =>
    world.clock.now() < until && method === 'POST' && path.includes('/statuses/') ? { status: 502 } : null;
  return { world, until, a, b, c };
}

test.each([2, 4, 8])('after %i minutes without a status all land within minutes', async (minutes) => {
  const { world, until, a, b, c } = await whereNoStatusIsTaken(minutes);
  await world.drain({ maxMs: 60 * MINUTE, until: () => landedOf(world).length === 3 });
  expect(landedOf(world)).toEqual([a, b, c]);
  expect(world.clock.now() - until).toBeLessThan(5 * MINUTE);
});

test('none of its batch is told that the forge did not complete a merge, and only one that it fails each time', async () => {
  const { world, a, b, c } = await whereNoStatusIsTaken(4);
  await world.drain({ maxMs: 60 * MINUTE, until: () => landedOf(world).length === 3 });
  const events = [await told(world, a), await told(world, b), await told(world, c)];
  expect(events.flat()).not.toContain('pr_requeued:merge_timeout');
  expect(events.map((each) => each.includes('pr_requeued:staging_failed'))).toEqual([true, false, false]);
});
