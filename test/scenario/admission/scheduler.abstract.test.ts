import type { Receipt } from '#core/domain/queue/batch.ts';
import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const receiptsOf = async (world: World): Promise<readonly Receipt[]> =>
  (await world.rows()).flatMap(({ actions }) => actions.flatMap(({ receipt }) => receipt ?? []));
const schedulersOf = async (world: World): Promise<readonly (string | undefined)[]> =>
  (await receiptsOf(world)).map(({ scheduledBy }) => scheduledBy);
const approversOf = async (world: World): Promise<readonly (readonly string[] | undefined)[]> =>
  (await receiptsOf(world)).map(({ approvedBy }) => approvedBy);

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

  test('names who had approved exactly that head where a rule asks for approvals, and no other account', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.setProtection({ requiredApprovals: 1 });
    const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' } });
    await world.forge.review(pr, 'earlier', 'approve');
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer' });
    await world.forge.review(pr, 'ann', 'approve');
    await world.forge.review(pr, 'bob', 'approve');
    await world.clock.advance(60_000);
    await world.forge.schedule(pr);
    await world.drain();
    expect(await approversOf(world)).toEqual([['ann', 'bob']]);
  });

  test('says of the approvals that they are not known where no rule asks for them', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a');
    await world.forge.review(pr, 'ann', 'approve');
    await world.drain();
    expect(await approversOf(world)).toEqual([undefined]);
  });
});
