import { gitWorlds } from '../git-world.ts';
import { headOf, landedOf, stateOf } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import type { World } from '../world.ts';

/** Gitea reads it as Go does, with several ranges in one class: it covers `main`. */
const PATTERN = '[a-z0-9_-]*';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function given(): Promise<World> {
  const worlds = gitWorlds('gt126');
  closers.push(worlds.closeAll);
  const world = await worlds.create();
  await givenProject(world.forge);
  return world;
}

test('a class that the forge obeys before the rule of the base is believed: nothing is proven for nothing, and the owner is told', async () => {
  const world = await given();
  await world.forge.setProtection({ requiredContexts: ['mq'], priority: 5 });
  const pr = await givenScheduled(world.forge, 'a');
  await world.forge.setProtection({ requiredContexts: ['lint'], priority: 1 }, PATTERN);
  const report = await world.reconcile();
  expect(report).toMatchObject({
    rule: { reasons: ['context_not_required'] },
  });
  await world.drain({ maxMs: 3_600_000 });
  expect(await stateOf(world, await headOf(world, pr))).not.toBe('success');
  expect([world.forge.runs(), landedOf(world)]).toEqual([[], []]);
});

test.each([PATTERN, '[^x]*', '{next,in'])(
  'one that asks for the queue is the rule of the base: %s',
  async (pattern) => {
    const world = await given();
    await world.forge.setProtection({ requiredContexts: [] });
    await world.forge.setProtection({ requiredContexts: ['mq'], priority: -1 }, pattern);
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain({ maxMs: 3_600_000 });
    expect(landedOf(world)).toEqual([pr]);
  },
);
