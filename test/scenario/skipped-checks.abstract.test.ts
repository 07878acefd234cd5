import { headOf, landedOf, stateOf } from './hooks.ts';
import { givenProject, givenScheduled, unprovenLandings } from './stories.ts';
import { createWorld } from './world.ts';

/** Both kinds of forge take a status that says `skipped` for one that passed, and some versions other words (forge facts). */
const MINUTE = 60_000;

async function givenOne(requiredContexts: readonly string[]) {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setProtection({ requiredContexts });
  const pr = await givenScheduled(world.forge, 'a');
  return { world, pr, head: await headOf(world, pr) };
}

test.each([
  ['beside one that passed', ['success', 'skipped']],
  ['alone', ['skipped']],
] as const)('a required check that was skipped, %s, keeps no pull request out', async (_name, states) => {
  const { world, pr, head } = await givenOne(['mq', 'ci/*']);
  for (const [index, state] of states.entries())
    await world.forge.postStatusAs('ci', head, `ci/${index}`, state);
  await world.clock.advance(MINUTE);
  await world.drain({ maxMs: 30 * MINUTE });
  expect(landedOf(world)).toEqual([pr]);
});

test('one that was skipped beside one that failed does', async () => {
  const { world, head } = await givenOne(['mq', 'ci/*']);
  await world.forge.postStatusAs('ci', head, 'ci/lint', 'skipped');
  await world.forge.postStatusAs('ci', head, 'ci/unit', 'failure');
  await world.clock.advance(MINUTE);
  await world.drain({ maxMs: 30 * MINUTE });
  expect(landedOf(world)).toEqual([]);
  expect(world.forge.runs()).toEqual([]);
});

test.each(['success', 'skipped', 'warning', 'no such word'])(
  'a status that another account writes under the context of the queue is taken back, and told: %s',
  async (state) => {
    const { world, pr, head } = await givenOne(['mq']);
    world.forge.judge = () => 'hold';
    await world.reconcile();
    await world.forge.postStatusAs('mallory', head, 'mq', state);
    await world.reconcile();
    expect(['pending', 'error']).toContain(await stateOf(world, head));
    expect(world.log.filter(({ fields }) => fields.alarm === 'foreign_status_writer')).not.toEqual([]);
    await world.forge.review(pr, 'rev', 'approve');
    await world.clock.advance(MINUTE);
    expect(landedOf(world)).toEqual([]);
    expect(await unprovenLandings(world.forge)).toEqual([]);
  },
);
