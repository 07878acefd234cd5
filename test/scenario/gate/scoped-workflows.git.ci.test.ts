import { gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';

jest.setTimeout(60_000);

/** Gitea from 1.27 on runs workflows of other repositories here, and the list of all runs shows such a run like the gate's. */
const worlds = gitWorlds('gt127');
afterEach(() => worlds.closeAll());

test.each(['success', 'failure'] as const)(
  'a workflow of another repository with the name of the gate, ending in %s, neither lands nor bounces one',
  async (verdict) => {
    const scopedWorkflows = [{ file: 'mq-gate.yaml', verdict }];
    const world = await worlds.create({}, { scopedWorkflows });
    await givenProject(world.forge);
    const good = await givenScheduled(world.forge, 'a');
    const bad = await givenScheduled(world.forge, 'bad', 'BAD\n');
    await world.drain();
    expect(await endingOf(world, [good, bad])).toEqual({ landed: [good], bounced: [bad] });
    await expectHonestEnd(world, [good, bad]);
  },
);
