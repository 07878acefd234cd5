import { givenProject } from '../stories.ts';
import { createWorld } from '../world.ts';

/** `bisect_fanout: auto` (decision 0242). */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function given(repo: Readonly<Record<string, unknown>>) {
  const world = await createWorld({ repo });
  await givenProject(world.forge);
  world.forge.gateDurationMs = 10 * MINUTE;
  return world;
}
type World = Awaited<ReturnType<typeof given>>;

async function schedule(world: World, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const content = name.startsWith('bad') ? 'BAD\n' : `${name}\n`;
    const pr = await world.forge.openPullRequest({ branch: name, files: { [`src/${name}.txt`]: content } });
    await world.forge.scheduleAs('dev', pr);
    await world.clock.advance(1_000);
  }
}

/** Every third is bad. */
const names = (from: number, to: number): readonly string[] =>
  Array.from(
    { length: to - from },
    (_, index) => `${(from + index) % 3 === 0 ? 'bad' : 'good'}-${from + index}`,
  );

const running = (world: World): number =>
  world.forge.runs().filter(({ state }) => state === 'running').length;

/** Until so many have landed. */
async function mostAtOnce(world: World, landed: number): Promise<number> {
  let most = 0;
  await world.drain({
    maxMs: 24 * HOUR,
    until: () => {
      most = Math.max(most, running(world));
      return world.forge.merges().length >= landed;
    },
  });
  await world.drain({ maxMs: HOUR });
  return most;
}

describe('the queue chooses how many gate runs are out at once', () => {
  test('with a small budget it begins with four, and no more than it chose are out', async () => {
    const world = await given({ fanoutAuto: true, autoRunsPer100Landed: 20, bisectFanout: 16 });
    await schedule(world, names(0, 24));
    expect(await mostAtOnce(world, 16)).toBe(4);
    expect(world.forge.merges()).toHaveLength(16);
    expect((await world.record()).autoFanout).toMatchObject({ inForce: 4, reason: 'keeps_up', budget: 20 });
  });

  test('with a large one it begins with sixteen, and learns what they take', async () => {
    const world = await given({ fanoutAuto: true, autoRunsPer100Landed: 1_000 });
    await schedule(world, names(0, 24));
    const most = await mostAtOnce(world, 16);
    expect([most > 4, most <= 16]).toEqual([true, true]);
    const { autoFanout } = await world.record();
    expect(autoFanout).toMatchObject({ inForce: 16, reason: 'most' });
    expect(autoFanout?.runs).toBeGreaterThan(10);
  });

  test('a number takes the choice back; what was learned goes with it', async () => {
    const world = await given({ fanoutAuto: true, autoRunsPer100Landed: 1_000 });
    await schedule(world, ['a']);
    await world.drain({ maxMs: HOUR });
    expect((await world.record()).autoFanout).toBeDefined();
    await world.settings({ fanoutAuto: false, bisectFanout: 2 });
    await schedule(world, names(1, 12));
    expect(await mostAtOnce(world, 8)).toBeLessThanOrEqual(2);
    expect((await world.record()).autoFanout).toBeUndefined();
  });

  test('where the settings name a number, nothing of it is kept', async () => {
    const world = await given({ bisectFanout: 16 });
    await schedule(world, names(0, 12));
    await world.drain({ maxMs: 24 * HOUR });
    expect(await world.record()).not.toHaveProperty('autoFanout');
  });
});
