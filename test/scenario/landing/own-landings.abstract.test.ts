import type { PullRequest } from '#core/domain/forge/forge.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { headOf, landedOf, stateOf, told, untilSuccess, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, createWorldOn, type World } from '../world.ts';

/** A landing by the queue is no news; a pull request that left it otherwise is told and alarmed once. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The pull requests that each alarm of a merge past the queue names. */
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
  'a landing by the queue is not told as merged past it, nor as landed by another queue, when the base is pushed back after %s and restored',
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

/** The forge has checked everything and merges for 100 s; a rejecting review comes meanwhile. */
async function givenSlowMerge() {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: { mergesUncheckedHead: true } });
  const world = await createWorldOn(clock, forge, forge.forge, {});
  await givenProject(world.forge);
  await world.forge.setProtection({ blockOnRejectedReviews: true });
  const pr = await givenScheduled(world.forge, 'a');
  world.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 100 * SECOND });
  const head = await headOf(world, pr);
  await world.drain({ until: async () => (await stateOf(world, head)) === 'success' });
  await world.clock.advance(SECOND);
  await world.forge.review(pr, 'alice', 'reject');
  return { world, pr, head };
}

test('a merge that was begun before its success was taken back, and ends 80 s later, is the landing that it was proven to be', async () => {
  const { world, pr, head } = await givenSlowMerge();
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([pr]);
  expect(alarmed(world)).toEqual([]);
  const events = (await told(world, pr)).filter((event) => /^pr_(landed|skipped|bounced)/.test(event));
  expect(events).toEqual(['pr_landed:null']);
  expect((await world.forge.status(head, 'mq'))?.description).toMatch(/^landed:/);
  expect((await world.reconcile())?.errorCode).toBeNull();
});

test('such a merge on a base that moved is one past the queue: told once, and alarmed once', async () => {
  const { world, pr } = await givenSlowMerge();
  await world.drain({ until: async () => (await world.record()).batches.length === 0 });
  await world.forge.pushToBase({ 'pushed.txt': 'x\n' });
  await world.drain({ maxMs: HOUR });
  const events = (await told(world, pr)).filter((event) => /^pr_(landed|skipped|bounced)/.test(event));
  expect(events).toEqual(['pr_skipped:merged_outside_the_queue']);
  // The push is one fact, the merge another.
  expect(alarmed(world)).toEqual([null, pr]);
});

test.each([
  ['together', NO_LAGS, true],
  ['the list one minute after the base', { ...NO_LAGS, list: MINUTE, pull: MINUTE }, false],
  ['the list ahead of the base', { ...NO_LAGS, listRefs: MINUTE, pullRefs: MINUTE, branch: MINUTE }, true],
] as const)('one of the queue that is merged past it is alarmed once: %s', async (_, lags, isNamed) => {
  const world = await createWorld();
  await givenProject(world.forge);
  world.forge.judge = () => 'hold';
  const pr = await givenScheduled(world.forge, 'queued');
  await world.reconcile();
  await world.clock.advance(MINUTE);
  world.forge.lags = lags;
  await world.forge.mergeByHand(pr);
  await world.drain({ maxMs: HOUR });
  expect(await told(world, pr)).toContain('pr_skipped:merged_outside_the_queue');
  expect(alarmed(world)).toEqual([isNamed ? pr : null]);
});

test('one that is first seen with a head that moved since its schedule is told as queued, and why it waits', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const pr = await givenScheduled(world.forge, 'a');
  await world.clock.advance(MINUTE);
  await world.forge.setAccess('stranger', 'read');
  await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' }, 'stranger');
  await world.clock.advance(MINUTE);
  await world.drain({ maxMs: 10 * MINUTE });
  expect([...(await told(world, pr))].reverse()).toEqual(['pr_queued:null', 'pr_requeued:head_changed']);
  const words = await world.forge.status(await headOf(world, pr), 'mq');
  expect(words).toMatchObject({
    state: 'error',
    description: expect.stringMatching(/^requeued: head changed/),
  });
  await world.forge.cancelSchedule(pr);
  await world.forge.schedule(pr, 'squash');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([pr]);
});
