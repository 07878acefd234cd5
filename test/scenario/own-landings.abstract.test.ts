import type { PullRequest } from '#core/domain/forge.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { headOf, landedOf, told, untilSuccess, wrapForge } from './hooks.ts';
import { givenProject, givenScheduled } from './stories.ts';
import { createWorld, type World } from './world.ts';

/** What the queue landed itself is no news, and what left it otherwise is told and alarmed once. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Who is named by each alarm of a merge past the queue. */
const alarmed = (world: World) =>
  world.log.filter(({ fields }) => fields.alarm === 'unverified_landing').map(({ fields }) => fields.pr);

test('a base that was read before a landing was seen in the same look is no ground for the next batch, and raises no alarm', async () => {
  let before = '';
  let decidedAt = 0;
  const world = await createWorld({
    wrapForge: wrapForge(async (name, _args, answer) => {
      // Nothing that this look decides is done at once.
      const isAway = decidedAt > 0 && world.clock.now() < decidedAt + 5 * SECOND;
      if (isAway && (name === 'postStatus' || name === 'readBranchTip'))
        throw new ForgeError('unreachable', name, 503);
      const pulls = await answer();
      if (name !== 'listOpenPullRequests' || before === '') return pulls;
      const baseTip = before;
      before = '';
      decidedAt = world.clock.now();
      return (pulls as PullRequest[]).map((pull) => ({ ...pull, baseTip }));
    }),
  });
  await givenProject(world.forge);
  const first = await givenScheduled(world.forge, 'first');
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await untilSuccess(world, await headOf(world, first));
  // Nothing is staged on top of the first one, and it is merged between two reconciles.
  const second = await givenScheduled(world.forge, 'second');
  before = await world.forge.tip('main');
  world.forge.mergeBehaviour = () => ({ kind: 'now' });
  await world.forge.review(first, 'alice', 'approve');
  await world.clock.advance(5 * SECOND);
  expect(landedOf(world)).toEqual([first]);
  await world.drain({ maxMs: 30 * MINUTE });
  expect(landedOf(world)).toEqual([first, second]);
  expect(alarmed(world)).toEqual([]);
});

test.each([
  ['an hour', HOUR, false],
  ['a week', 7 * 24 * HOUR, false],
  ['an hour, of which a new record knows nothing,', HOUR, true],
] as const)(
  'what the queue landed is not told as merged past it, nor as landed by another queue, when the base is pushed back after %s and restored',
  async (_, ageMs, losesRecord) => {
    const world = await createWorld();
    await givenProject(world.forge);
    const before = await world.forge.tip('main');
    const own = await givenScheduled(world.forge, 'own');
    await world.drain();
    await world.clock.advance(ageMs);
    if (losesRecord) await world.loseRecord();
    const later = await givenScheduled(world.forge, 'later');
    await world.drain();
    const after = await world.forge.tip('main');
    await world.forge.pushBranch('main', before);
    await world.drain();
    await world.clock.advance(15 * MINUTE);
    const stranger = await world.forge.openPullRequest({ branch: 'stranger', files: { 'x.txt': 'x\n' } });
    await world.forge.pushBranch('main', after);
    await world.forge.mergeByHand(stranger);
    await world.drain({ maxMs: HOUR });
    for (const landed of [own, later]) expect((await told(world, landed))[0]).toBe('pr_landed:null');
    expect(await told(world, stranger)).toEqual(['pr_skipped:merged_outside_the_queue']);
    expect((await world.record()).rival).toBeUndefined();
    expect((await world.reconcile())?.errorCode).toBeNull();
  },
);
