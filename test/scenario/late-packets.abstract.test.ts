import { endingOf, expectHonestEnd, givenProject, givenScheduled, staleSuccesses } from './stories.ts';
import { createWorld } from './world.ts';

describe('a call that nobody heard the answer of is carried out later', () => {
  test('a success that arrives after it was taken back is taken back again', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    const [a = 0, b = 0] = prs;
    const head = (await world.forge.pull(a)).headSha;
    let lateOnes = 0;
    world.forge.isLate = (call) => {
      const first = call.path.endsWith(`/statuses/${head}`) && lateOnes === 0;
      if (first) lateOnes += 1;
      return first;
    };
    await world.drain({ until: () => lateOnes === 1 });
    await world.forge.cancelSchedule(a);
    // An event wakes the queue at once, while the forge still has the old call before it.
    await world.reconcile();
    await world.drain();
    const history = world.forge.statusHistory(head).map((status) => status.state);
    expect(history).toContain('success');
    expect(await staleSuccesses(world.forge, prs)).toEqual([]);
    expect((await endingOf(world, prs)).landed).toEqual([b]);
    await expectHonestEnd(world, prs);
  });
});
