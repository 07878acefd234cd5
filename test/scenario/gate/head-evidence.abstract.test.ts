import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type AbstractForge, createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { CI_AUTHOR, CI_CONTEXTS, CI_STRANGER } from '../../fakes/abstract-forge/pipeline-statuses.ts';
import type { Switches } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Hook, wrapForge } from '../hooks.ts';
import { expectHonestEnd, GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn, STATUS_GATE, type World } from '../world.ts';

const EVERYWHERE = GATE_FILE.replace('mq/**', '**');
const MINUTE_MS = 60_000;

/** A forge whose CI runs the gate on every branch, and a queue that takes its passes. */
async function begin(
  repo: Partial<ManagedRepo> = {},
  ci: 'actions' | 'statuses' = 'actions',
  switches: Partial<Switches> = {},
  hook: Hook = (_name, _args, answer) => answer(),
) {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: { ci, runsOnHeads: true, ...switches } });
  const gate = ci === 'statuses' ? STATUS_GATE : {};
  const world = await createWorldOn(clock, forge, forge.forge, {
    repo: { reuseCi: true, ...gate, ...repo },
    wrapForge: wrapForge(hook),
  });
  await givenProject(forge, { [GATE_PATH]: EVERYWHERE });
  await clock.advance(5 * MINUTE_MS);
  return world;
}

const gateRunsOf = (forge: AbstractForge) =>
  forge.runs().filter(({ branch }) => branch.startsWith('mq/')).length;

/** After the runs of the heads have ended. */
async function land(world: World<AbstractForge>, prs: readonly number[]) {
  await world.clock.advance(10 * MINUTE_MS);
  await world.drain();
  await expectHonestEnd(world, prs);
  return prs.map((pr) => world.forge.isMerged(pr));
}

const receiptsOf = async (world: World) =>
  (await world.rows()).flatMap((row) => row.actions.flatMap(({ receipt }) => receipt ?? []));

/** A pull request whose head has passed, with a success on it, on a forge that does not merge. */
async function givenSuccess(ci: 'actions' | 'statuses') {
  const world = await begin({}, ci);
  const pr = await givenScheduled(world.forge, 'a');
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await world.clock.advance(10 * MINUTE_MS);
  await world.drain({
    until: async () => (await world.record()).batches.some(({ landing }) => landing !== null),
  });
  return { world, pr };
}

async function look(world: World<AbstractForge>, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await world.reconcile();
    await world.clock.advance(MINUTE_MS);
  }
}

async function takeBackInPause(world: World<AbstractForge>): Promise<void> {
  const since = world.clock.now();
  await world.settings({ pause: { kind: 'pause', reason: null, since, until: null } });
  await look(world, 6);
  expect((await world.record()).batches).toEqual([]);
  world.forge.mergeBehaviour = () => ({ kind: 'now' });
}

describe.each(['actions', 'statuses'] as const)('a run of the head itself (%s)', (ci) => {
  test('that has passed on exactly the staged tree lands it without a gate run, and its receipt says so', async () => {
    const world = await begin({}, ci);
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    expect(await land(world, [pr])).toEqual([true]);
    expect(gateRunsOf(world.forge)).toBe(0);
    const [receipt] = await receiptsOf(world);
    expect(receipt).toMatchObject({ ofHead: true, stagedSha: headSha, head: headSha });
    expect(receipt?.gatedTree).toBe(receipt?.tree);
  });

  test('of the last of a stack answers for all of it', async () => {
    const world = await begin({}, ci);
    const first = await world.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a\n' } });
    const { headSha } = await world.forge.pull(first);
    await world.forge.pushBranch('b', headSha);
    const second = await world.forge.openPullRequest({ branch: 'b', head: headSha, title: 'b' });
    await world.forge.pushToPullRequest(second, { 'src/b.txt': 'b\n' });
    await world.forge.schedule(first, 'squash');
    await world.forge.schedule(second, 'squash');
    expect(await land(world, [first, second])).toEqual([true, true]);
    expect(gateRunsOf(world.forge)).toBe(0);
  });

  test('counts for nothing unless the owner has switched that on', async () => {
    const world = await begin({ reuseCi: false }, ci);
    const pr = await givenScheduled(world.forge, 'a');
    expect(await land(world, [pr])).toEqual([true]);
    expect(gateRunsOf(world.forge)).toBe(1);
    expect((await receiptsOf(world))[0]?.ofHead).toBeUndefined();
  });

  test.each(['while its success stands', 'in a pause'] as const)(
    'counts no more once the owner has switched that off, %s',
    async (when) => {
      const { world, pr } = await givenSuccess(ci);
      if (when === 'in a pause') await takeBackInPause(world);
      await world.settings({ pause: null, reuseCi: false });
      await world.reconcile();
      world.forge.mergeBehaviour = () => ({ kind: 'now' });
      await look(world, 6);
      expect(await land(world, [pr])).toEqual([true]);
      expect(gateRunsOf(world.forge)).toBe(1);
      const receipts = await receiptsOf(world);
      expect(receipts.map(({ ofHead }) => ofHead)).toEqual([undefined]);
    },
  );

  test('that has failed, or is not over, only means that the gate runs', async () => {
    const world = await begin({}, ci);
    let attempt = 0;
    world.forge.judge = (_files, { branch }) => {
      attempt += 1;
      if (branch.startsWith('mq/')) return 'success';
      return attempt === 1 ? 'failure' : 'hold';
    };
    const failed = await givenScheduled(world.forge, 'a');
    expect(await land(world, [failed])).toEqual([true]);
    const held = await givenScheduled(world.forge, 'b');
    expect(await land(world, [held])).toEqual([true]);
    expect(gateRunsOf(world.forge)).toBe(2);
  });

  test('on another tree is no evidence: the base has moved since', async () => {
    const world = await begin({}, ci);
    const pr = await givenScheduled(world.forge, 'a');
    await world.forge.pushToBase({ 'src/other.txt': 'other\n' });
    expect(await land(world, [pr])).toEqual([true]);
    expect(gateRunsOf(world.forge)).toBe(1);
  });

  test('is no evidence after a merge that did not come in time: then the gate runs anew', async () => {
    const world = await begin({}, ci);
    const pr = await givenScheduled(world.forge, 'a');
    let lost = true;
    world.forge.mergeBehaviour = () => (lost ? { kind: 'lost' } : { kind: 'now' });
    await world.clock.advance(10 * MINUTE_MS);
    await world.drain({ until: async () => (await world.record()).batches.some(({ landing }) => landing) });
    expect(gateRunsOf(world.forge)).toBe(0);
    await world.drain({ until: async () => (await world.record()).mergeTimeoutCounts.length > 0 });
    lost = false;
    await world.drain();
    expect(world.forge.isMerged(pr)).toBe(true);
    expect(gateRunsOf(world.forge)).toBe(1);
  });
});

test('a run of another gate file is no evidence: a pull request that changes it is judged by the gate', async () => {
  const world = await begin();
  const pr = await givenScheduled(world.forge, 'a', `${EVERYWHERE}# less\n`, { path: GATE_PATH });
  expect(await land(world, [pr])).toEqual([true]);
  expect(gateRunsOf(world.forge)).toBe(1);
});

test('a run of another workflow on the same head is no evidence', async () => {
  const world = await begin();
  await world.forge.pushToBase({ [GATE_PATH]: GATE_FILE, '.forgejo/workflows/mq-gate-too.yaml': EVERYWHERE });
  const pr = await givenScheduled(world.forge, 'a');
  expect(await land(world, [pr])).toEqual([true]);
  expect(gateRunsOf(world.forge)).toBe(1);
});

describe('statuses on a head', () => {
  test.each([
    ['in a fork', { fork: true }],
    ['of an AGit push', { agit: true }],
  ])('%s are no evidence, also where a branch here has its name and its head', async (_name, from) => {
    const world = await begin({}, 'statuses', { forkPermission: false });
    const pr = await world.forge.openPullRequest({
      branch: 'outside',
      files: { 'src/outside.txt': '1\n' },
      author: 'guest',
      ...from,
    });
    const { headSha } = await world.forge.pull(pr);
    const { headRef } = await world.forge.forge.readPullRequest(pr);
    await world.forge.pushBranch(headRef, headSha);
    await world.forge.review(pr, 'reviewer', 'approve');
    await world.forge.schedule(pr, 'squash');
    expect(await land(world, [pr])).toEqual([true]);
    expect(gateRunsOf(world.forge)).toBe(1);
  });

  test('of another account are no evidence', async () => {
    const world = await begin({}, 'statuses');
    world.forge.judge = (_files, { branch }) => (branch.startsWith('mq/') ? 'success' : 'never');
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    for (const context of CI_CONTEXTS)
      await world.forge.postStatusAs(CI_STRANGER, headSha, context, 'success');
    expect(await land(world, [pr])).toEqual([true]);
    expect(gateRunsOf(world.forge)).toBe(1);
  });

  test('under a pattern are no evidence, for no moment says that all have come', async () => {
    const world = await begin({ gateContexts: ['ci/**'] }, 'statuses');
    world.forge.judge = (_files, { branch }) => (branch.startsWith('mq/') ? 'success' : 'never');
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    await world.forge.postStatusAs(CI_AUTHOR, headSha, CI_CONTEXTS[0], 'success');
    expect(await land(world, [pr])).toEqual([true]);
    expect(gateRunsOf(world.forge)).toBe(1);
  });
});

test('a head whose run is repeated and fails is gated when it is staged again', async () => {
  const { world, pr } = await givenSuccess('statuses');
  await takeBackInPause(world);
  const { headSha } = await world.forge.pull(pr);
  await world.forge.postStatusAs(CI_AUTHOR, headSha, CI_CONTEXTS[0], 'failure');
  await world.settings({ pause: null });
  expect(await land(world, [pr])).toEqual([true]);
  expect(gateRunsOf(world.forge)).toBe(1);
});

test.each(['alone', 'in a stack'] as const)(
  'a head whose pass is gone when it is to land is gated instead, %s',
  async (where) => {
    let looks = 0;
    const world: World<AbstractForge> = await begin({}, 'statuses', {}, async (name, [sha], answer) => {
      const found = await answer();
      const isOfHead = name === 'listStatusHistory' && sha === headSha;
      if (isOfHead && ++looks === 1)
        await world.forge.postStatusAs(CI_AUTHOR, headSha, CI_CONTEXTS[0], 'failure');
      return found;
    });
    const first = await givenScheduled(world.forge, 'a');
    let { headSha } = await world.forge.pull(first);
    const prs = [first];
    if (where === 'in a stack') {
      await world.forge.pushBranch('b', headSha);
      const last = await world.forge.openPullRequest({ branch: 'b', head: headSha, title: 'b' });
      await world.forge.pushToPullRequest(last, { 'src/b.txt': 'b\n' });
      await world.forge.schedule(last, 'squash');
      headSha = (await world.forge.pull(last)).headSha;
      prs.push(last);
    }
    expect(await land(world, prs)).toEqual(prs.map(() => true));
    expect(gateRunsOf(world.forge)).toBe(1);
    expect((await receiptsOf(world)).map(({ ofHead }) => ofHead)).toEqual(prs.map(() => undefined));
    expect((await world.rows()).map(({ terminalReason }) => terminalReason)).toContain('own_run_lost');
  },
);

test('a gate by statuses with another list is asked of the head anew, once', async () => {
  const { world, pr } = await givenSuccess('statuses');
  world.forge.mergeBehaviour = () => ({ kind: 'now' });
  const rows = (await world.rows()).length;
  await world.settings({ gateAuthors: [CI_AUTHOR, 'second-ci'] });
  expect(await land(world, [pr])).toEqual([true]);
  expect((await world.rows()).length).toBe(rows + 1);
});
