import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

const REFUSED = { state: 'error', description: expect.stringMatching(/^refused: this commit also heads/) };

async function createTwoBranches() {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.pushBranch('release', await world.forge.tip('main'));
  await world.forge.protectBranch('release');
  return world;
}

/** A status belongs to a commit: one post opens every pull request that has it as its head (D-17). */
describe('one head, two branches that ask for the status', () => {
  test('neither is merged: the one to the base is refused with words, no run is spent, the others go on', async () => {
    const world = await createTwoBranches();
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    const twin = await world.forge.openPullRequest({ branch: 'a2', head: headSha, base: 'release' });
    await world.forge.schedule(twin, 'squash');
    const other = await givenScheduled(world.forge, 'b');
    await world.clock.advance(30_000);
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual([other]);
    expect(world.forge.isMerged(twin)).toBe(false);
    expect(await world.forge.status(headSha, 'mq')).toMatchObject(REFUSED);
    expect(world.forge.runs()).toHaveLength(1);
    await world.forge.close(twin);
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual([other, pr]);
    await expectHonestEnd(world, [pr, other]);
  });

  test('the second is opened while the first is in flight: it is found right before the success is posted', async () => {
    const world = await createTwoBranches();
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    let twin = 0;
    world.forge.gateDurationMs = 3_000;
    world.forge.judge = () => 'success';
    await world.clock.advance(30_000);
    const before = world.forge.mergeBehaviour;
    world.forge.mergeBehaviour = (number) => before(number);
    // As late as it can be: after the last look at all, while the gate is green.
    world.forge.fault = (call) => {
      const isLastLook = call.path.endsWith(`/pulls/${pr}`) && call.method === 'GET';
      if (isLastLook && twin === 0) {
        twin = -1;
        void world.forge
          .openPullRequest({ branch: 'a2', head: headSha, base: 'release' })
          .then(async (made) => {
            twin = made;
            await world.forge.schedule(made, 'squash');
          });
      }
      return null;
    };
    await world.drain();
    expect(twin).toBeGreaterThan(0);
    expect(world.forge.isMerged(twin)).toBe(false);
    expect(world.forge.isMerged(pr)).toBe(false);
    expect(await world.forge.status(headSha, 'mq')).toMatchObject(REFUSED);
    expect(world.forge.statusHistory(headSha).map((status) => status.state)).not.toContain('success');
    await expectHonestEnd(world, [pr]);
  });

  test.each([
    ['has no rule', null],
    ['asks for another status', { requiredContexts: ['ci'] }],
  ])('a branch that %s keeps no pull request back', async (_name, rule) => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.pushBranch('release', await world.forge.tip('main'));
    if (rule !== null) await world.forge.protectBranch('release', rule);
    const pr = await givenScheduled(world.forge, 'a');
    await world.forge.openPullRequest({
      branch: 'a2',
      head: (await world.forge.pull(pr)).headSha,
      base: 'release',
    });
    await world.clock.advance(30_000);
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual([pr]);
  });

  test.each([
    ['a pattern that our status matches', { requiredContexts: ['m*'] }],
    ['every status there is', { requiredContexts: [] }],
  ])('a branch that asks for %s counts as one that asks for ours', async (_name, rule) => {
    const world = await createTwoBranches();
    await world.forge.protectBranch('release', rule);
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    await world.forge.openPullRequest({ branch: 'a2', head: headSha, base: 'release' });
    await world.clock.advance(30_000);
    await world.drain();
    expect(await world.forge.status(headSha, 'mq')).toMatchObject(REFUSED);
    expect(world.forge.runs()).toEqual([]);
  });

  test('the rule of the other branch cannot be read: nothing is posted, and no pull request is refused', async () => {
    const world = await createTwoBranches();
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    await world.forge.openPullRequest({ branch: 'a2', head: headSha, base: 'release' });
    let reads = 0;
    world.forge.fault = (call) => {
      if (!call.path.endsWith('/branch_protections')) return null;
      reads += 1;
      return reads % 2 === 0 ? { status: 502 } : null;
    };
    await world.clock.advance(30_000);
    await world.drain({ maxMs: 10 * 60_000, afterEach: async () => false });
    expect(world.forge.statusHistory(headSha)).toEqual([]);
    expect(world.forge.runs()).toEqual([]);
  });
});
