import { wrapForge } from '../hooks.ts';
import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';
import { describeSharedRun } from './shared-run.suite.ts';

describeSharedRun('abstract forge', createWorld);

test('an incident that comes meanwhile shares no gate run: the batch below has its own', async () => {
  let label: () => Promise<unknown> = async () => null;
  const hooked = wrapForge(async (name, _args, real) => {
    if (name === 'applyPatch') await label();
    return real();
  });
  const priorities = { incidentLabels: ['incident'], priorityPeople: ['oncall'] };
  const world = await createWorld({ repo: { ...priorities, bisectFanout: 4 }, wrapForge: hooked });
  await givenProject(world.forge, { 'shared.txt': 'one\n' });
  const below = await givenScheduled(world.forge, 'b', 'from b\n', { path: 'shared.txt' });
  const conflicting = await givenScheduled(world.forge, 'c', 'from c\n', { path: 'shared.txt' });
  const incident = await givenScheduled(world.forge, 'd');
  label = () => world.forge.setLabel(incident, 'incident', true, 'oncall');
  await world.drain();
  expect(world.forge.merges().map(({ pr }) => pr)).toEqual(expect.arrayContaining([below, incident]));
  expect(world.forge.runs()).toHaveLength(2);
  await expectHonestEnd(world, [below, conflicting, incident]);
});
