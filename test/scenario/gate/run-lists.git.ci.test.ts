import { gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';

jest.setTimeout(60_000);

/** Forgejo 11 and Gitea before 1.25 list no runs: the gate is read from tasks and job statuses instead. */
const worlds = gitWorlds('fj11');
afterEach(() => worlds.closeAll());

test('a forge without run lists: a batch lands, a red one is found and bounced', async () => {
  const world = await worlds.create();
  await givenProject(world.forge);
  const prs: number[] = [];
  for (const name of ['a', 'bad', 'c'])
    prs.push(await givenScheduled(world.forge, name, name === 'bad' ? 'BAD\n' : `${name}\n`));
  await world.drain();
  expect(await endingOf(world, prs)).toEqual({ landed: [prs[0], prs[2]], bounced: [prs[1]] });
  const calls = world.forge.calls().map((call) => call.call);
  expect(calls.filter((call) => call === 'GET actions/tasks').length).toBeGreaterThan(0);
  await expectHonestEnd(world, prs);
});
