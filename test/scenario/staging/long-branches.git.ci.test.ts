import { countListings, gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { DeskChange, DeskCommit } from '../trees/git-desk.ts';
import type { World } from '../world.ts';

jest.setTimeout(240_000);

const MINUTE_MS = 60_000;
const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

const file = (path: string, content: string): DeskChange => ({ [path]: { mode: '100644', content } });

/** A branch that lives for so many days: each day the base gets a commit, which is merged into it ("Update branch"). */
async function givenMergedDaily(world: World, days: number): Promise<number> {
  const desk = await worlds.openDesk(world);
  await desk.readLine('main');
  const commits: DeskCommit[] = [
    { parent: await world.forge.tip('main'), change: file('src/long.txt', 'x\n'), message: 'Begin' },
  ];
  let base: string | number = await world.forge.tip('main');
  for (let day = 1; day <= days; day += 1) {
    const change = file('main.txt', `day ${day}\n`);
    const head = commits.length - 1;
    commits.push({ parent: base, change, message: `Day ${day}` });
    base = commits.length - 1;
    commits.push({ parent: head, merged: base, change, message: 'Merge branch main into long' });
  }
  const ids = await desk.commitAll(commits);
  const [tip = '', head = ''] = ids.slice(-2);
  await desk.push({ line: tip, long: head });
  const pr = await world.forge.openPullRequest({ branch: 'long', head });
  await world.forge.pushBranch('main', tip);
  await world.forge.pushToBase({ 'other.txt': 'one more\n' });
  await world.clock.advance(MINUTE_MS);
  return pr;
}

test.each(['squash', 'merge'] as const)('%s: a branch with 300 merges of the base lands', async (style) => {
  const world = await worlds.create({ repo: { mergeStyle: style } });
  await givenProject(world.forge);
  const pr = await givenMergedDaily(world, 300);
  await world.forge.schedule(pr, style);
  const other = await givenScheduled(world.forge, 'other', 'b\n', { style });
  world.forge.clearCalls();
  await world.drain({ maxMs: 30 * MINUTE_MS });
  expect((await endingOf(world, [pr, other])).landed).toEqual([pr, other]);
  // Two listings of seven pages, and what every landing costs.
  expect(countListings(world)).toBeLessThan(25);
  await expectHonestEnd(world, [pr, other]);
});
