import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { headOf, stateOf, told, untilSuccess, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../stories.ts';
import { createWorldOn } from '../world.ts';

/** While a success stands it may open a merge: nothing else that the queue has to do comes before taking it back (A24). */
const MINUTE = 60_000;

/** Every content takes 1.5 s; `big` has 30 files that both sides changed: no reconcile ever plans it to its end. */
async function slowWorld() {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  const hooked = wrapForge(async (name, _args, real) => {
    if (name === 'readBlob') await clock.advance(1_500);
    return real();
  });
  const world = await createWorldOn(clock, forge, forge.forge, {
    lastingEngine: true,
    repo: { bisectFanout: 4 },
    wrapForge: hooked,
  });
  const all = (first: string, last: string) =>
    Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `src/f${i}.txt`,
        `${first}${i}\n${'line\n'.repeat(30)}${last}\n`,
      ]),
    );
  await givenProject(world.forge, all('old', 'end'));
  const big = await world.forge.openPullRequest({ branch: 'big', files: all('old', 'tail') });
  await world.forge.pushToBase(all('new', 'end'));
  return { world, big, forge };
}

test('a success is taken back within a minute when the base moves, and nothing unproven lands', async () => {
  const { world, big } = await slowWorld();
  await world.forge.pushToBase({ 'src/base.txt': 'needed\n' });
  const a = await givenScheduled(world.forge, 'a', 'NEEDS:src/base.txt\n');
  const head = await headOf(world, a);
  let kind: 'lost' | 'now' = 'lost';
  world.forge.mergeBehaviour = () => ({ kind });
  await untilSuccess(world, head);
  await world.forge.schedule(big, 'squash');
  await world.reconcile();
  await world.forge.pushToBase({ 'src/base.txt': null });
  await world.drain({ maxMs: 5 * MINUTE });
  kind = 'now';
  await world.forge.review(a, 'rev', 'approve');
  await world.drain({ maxMs: 30 * MINUTE });
  expect(await unprovenLandings(world.forge)).toEqual([]);
});

test('nor into another branch that it was retargeted to', async () => {
  const { world, big, forge } = await slowWorld();
  const a = await givenScheduled(world.forge, 'a');
  await world.forge.pushBranch('release', await world.forge.tip('main'));
  await forge.protectBranch('release');
  const head = await headOf(world, a);
  let kind: 'lost' | 'now' = 'lost';
  world.forge.mergeBehaviour = () => ({ kind });
  await untilSuccess(world, head);
  await world.forge.schedule(big, 'squash');
  await world.reconcile();
  await world.forge.retarget(a, 'release');
  await world.drain({ maxMs: 5 * MINUTE });
  kind = 'now';
  await world.forge.review(a, 'rev', 'approve');
  await world.drain({ maxMs: 10 * MINUTE });
  expect(forge.journal().filter((j) => j.kind === 'merge_elsewhere')).toEqual([]);
});

test('a crowd of refusals does not keep a success standing', async () => {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  const hooked = wrapForge(async (name, _args, real) => {
    if (name === 'postStatus') await clock.advance(400);
    return real();
  });
  const world = await createWorldOn(clock, forge, forge.forge, { wrapForge: hooked });
  await givenProject(world.forge);
  const head = await headOf(world, await givenScheduled(world.forge, 'a'));
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await untilSuccess(world, head);
  await world.forge.setAccess('eve', 'read');
  for (let i = 0; i < 300; i += 1)
    await world.forge.schedule(
      await world.forge.openPullRequest({ branch: `e${i}`, files: { [`e${i}`]: 'e' }, author: 'eve' }),
    );
  await world.forge.pushToBase({ 'pushed.txt': 'x\n' });
  const at = clock.now();
  await world.drain({ until: async () => (await stateOf(world, head)) !== 'success' });
  const entry = forge
    .journal()
    .find((j) => j.kind === 'status' && j.sha === head && j.context === 'mq' && j.at >= at);
  expect((entry?.at ?? 0) - at).toBeLessThan(30_000);
});

test('an author whose staging never ends is told in an event that the pull request is set aside', async () => {
  const { world, big } = await slowWorld();
  await world.forge.schedule(big, 'squash');
  await world.drain({ maxMs: 30 * MINUTE });
  expect(await told(world, big)).toContain('pr_refused:staging_failed');
});
