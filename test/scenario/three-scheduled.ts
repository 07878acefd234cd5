import { givenProject, givenScheduled } from './stories.ts';
import { createWorld, type WorldOptions } from './world.ts';

/** A project with three scheduled pull requests that are good, in this order. */
export async function givenThreeScheduled(options: WorldOptions = {}) {
  const world = await createWorld(options);
  await givenProject(world.forge);
  const [a, b, c] = [
    await givenScheduled(world.forge, 'a'),
    await givenScheduled(world.forge, 'b'),
    await givenScheduled(world.forge, 'c'),
  ];
  return { world, a, b, c };
}
