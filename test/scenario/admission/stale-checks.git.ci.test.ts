import { gitWorlds } from '../git-world.ts';
import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

/**
 * Seen on Forgejo 15.0.3: for a moment after a landing the next pull request shows the new tip and its old check. A
 * rebase that is set off then takes the head for up to date, fails, and its schedule is gone without a word.
 */
test.each(['merge', 'squash', 'rebase'] as const)(
  'a forge that comes to a moved base late loses no schedule by %s',
  async (style) => {
    const world = await worlds.create(
      { repo: { mergeStyle: style } },
      { pushDelayMs: 1_500, checkDelayMs: 300 },
    );
    await givenProject(world.forge);
    const prs: number[] = [];
    for (const name of ['one', 'two', 'three']) {
      const pr = await givenScheduled(world.forge, name);
      await world.forge.cancelSchedule(pr);
      await world.forge.schedule(pr, style);
      prs.push(pr);
    }
    await world.clock.advance(60_000);
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
    expect(world.forge.runs()).toHaveLength(1);
    await expectHonestEnd(world, prs);
  },
);
