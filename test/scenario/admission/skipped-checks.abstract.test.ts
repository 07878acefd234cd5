import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { FORGEJO_15_SWITCHES, GITEA_126_SWITCHES, type Switches } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { headOf, landedOf, stateOf } from '../hooks.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../stories.ts';
import { createWorldOn } from '../world.ts';

/** Both kinds of forge take a status that says `skipped` for one that passed, and some versions other words (forge facts). */
const MINUTE = 60_000;

async function givenOne(requiredContexts: readonly string[], switches: Partial<Switches> = {}) {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches });
  const world = await createWorldOn(clock, forge, forge.forge, {});
  await givenProject(forge);
  await forge.setProtection({ requiredContexts });
  const pr = await givenScheduled(forge, 'a');
  return { world, pr, head: await headOf(world, pr) };
}

test.each([
  ['beside one that passed, on Forgejo', ['success', 'skipped'], FORGEJO_15_SWITCHES, true],
  ['beside one that passed, on Gitea', ['success', 'skipped'], GITEA_126_SWITCHES, true],
  ['alone, on Gitea', ['skipped'], GITEA_126_SWITCHES, true],
  ['alone, on Forgejo', ['skipped'], FORGEJO_15_SWITCHES, true],
] as const)(
  'a required check that was skipped keeps out whom the forge does not merge, and no other: %s',
  async (_name, states, switches, lands) => {
    const { world, pr, head } = await givenOne(['mq', 'ci/*'], switches);
    for (const [index, state] of states.entries())
      await world.forge.postStatusAs('ci', head, `ci/${index}`, state);
    await world.clock.advance(MINUTE);
    await world.drain({ maxMs: 30 * MINUTE });
    expect([landedOf(world), world.forge.runs().length]).toEqual(lands ? [[pr], 1] : [[], 0]);
  },
);

test.each([
  ['several ranges, on Gitea', 'ci/[a-z0-9]*', 'success', GITEA_126_SWITCHES],
  ['several ranges, which Forgejo leaves out as malformed', 'ci/[a-z0-9]*', 'failure', FORGEJO_15_SWITCHES],
  ['malformed, on Gitea', 'ci/[linux', 'failure', GITEA_126_SWITCHES],
  ['malformed, on Forgejo', 'ci/[linux', 'failure', FORGEJO_15_SWITCHES],
] as const)(
  'a required pattern keeps out whom the forge does not merge, and no other: %s',
  async (_name, pattern, state, switches) => {
    const { world, pr, head } = await givenOne(['mq', pattern], switches);
    await world.forge.postStatusAs('ci', head, 'ci/x1', state);
    await world.clock.advance(MINUTE);
    await world.drain({ maxMs: 30 * MINUTE });
    expect([landedOf(world), world.forge.runs().length]).toEqual([[pr], 1]);
  },
);

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
