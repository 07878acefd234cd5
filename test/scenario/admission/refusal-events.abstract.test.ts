import { givenProject, givenScheduled, refusalsOf } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const MINUTE_MS = 60_000;

async function moveBase(world: World, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await world.forge.pushToBase({ [`other/${world.clock.now()}.txt`]: 'x\n' });
    await world.drain({ maxMs: 10 * MINUTE_MS });
  }
}

/** A head that conflicts with the base, seen once. */
async function givenConflict(): Promise<{ readonly world: World; readonly pr: number }> {
  const world = await createWorld();
  await givenProject(world.forge);
  const pr = await givenScheduled(world.forge, 'mine', 'mine\n', { path: 'src/shared.txt' });
  await world.forge.pushToBase({ 'src/shared.txt': 'theirs\n' });
  await world.drain({ maxMs: 10 * MINUTE_MS });
  return { world, pr };
}

describe('a refusal is one event for each head, schedule and reason', () => {
  test('however often the base moves under a conflict', async () => {
    const { world, pr } = await givenConflict();
    expect(await refusalsOf(world, pr)).toEqual(['conflict']);
    await moveBase(world, 4);
    expect(await refusalsOf(world, pr)).toEqual(['conflict']);
    const head = (await world.forge.pull(pr)).headSha;
    expect((await world.forge.status(head, 'mq'))?.description).toMatch(/^refused: conflicts/);
  });

  test('seen by no look between the two: an approval that comes and goes', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.setProtection({ requiredApprovals: 1 });
    const pr = await givenScheduled(world.forge, 'a', 'BAD\n');
    await world.drain({ maxMs: 10 * MINUTE_MS });
    for (let time = 0; time < 3; time += 1) {
      await world.forge.setProtection({ requiredApprovals: 0, blockOnOutdatedBranch: false });
      await world.reconcile();
      await world.forge.setProtection({ requiredApprovals: 1 });
      await world.drain({ maxMs: 2 * MINUTE_MS });
    }
    expect((await refusalsOf(world, pr)).filter((reason) => reason === 'approvals_missing')).toHaveLength(1);
  });

  test('a new head, and the same one scheduled again, are told again', async () => {
    const { world, pr } = await givenConflict();
    const conflictAgain = async (prepare: () => Promise<void>): Promise<void> => {
      await world.forge.cancelSchedule(pr);
      await world.forge.pushToBase({ 'src/shared.txt': null });
      await prepare();
      await world.forge.schedule(pr, 'squash');
      await world.forge.pushToBase({ 'src/shared.txt': 'theirs\n' });
      await moveBase(world, 2);
    };
    await conflictAgain(async () => {
      await world.drain({ maxMs: 10 * MINUTE_MS });
    });
    expect(await refusalsOf(world, pr)).toEqual(['conflict', 'conflict']);
    await conflictAgain(async () => {
      await world.forge.pushToPullRequest(pr, { 'src/shared.txt': 'mine again\n' });
    });
    expect(await refusalsOf(world, pr)).toEqual(['conflict', 'conflict', 'conflict']);
  });
});
