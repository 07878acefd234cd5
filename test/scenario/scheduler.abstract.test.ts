import { expectHonestEnd, givenProject, givenScheduled } from './stories.ts';
import { createWorld, type World } from './world.ts';

const schedulersOf = async (world: World): Promise<readonly (string | undefined)[]> =>
  (await world.rows()).flatMap(({ actions }) =>
    actions.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.scheduledBy])),
  );

describe('the receipt of a landing', () => {
  test('names who scheduled the head on the forge', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' } });
    await world.forge.scheduleAs('oncall', pr, 'squash');
    await world.drain();
    expect(await schedulersOf(world)).toEqual(['oncall']);
    await expectHonestEnd(world, [pr]);
  });

  test('names who scheduled the head that landed, where an earlier one was scheduled by another', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a');
    await world.reconcile();
    await world.forge.cancelSchedule(pr);
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer' });
    await world.forge.scheduleAs('oncall', pr, 'squash');
    await world.drain();
    expect(await schedulersOf(world)).toEqual(['oncall']);
  });

  test('of a twin names who scheduled the twin', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const first = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(first);
    const twin = await world.forge.openPullRequest({ branch: 'twin', head: headSha });
    await world.forge.scheduleAs('oncall', twin, 'squash');
    world.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
    await world.drain();
    expect(world.forge.isMerged(twin)).toBe(true);
    expect(await schedulersOf(world)).toEqual(['oncall']);
  });
});
