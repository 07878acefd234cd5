import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

/** The landed tree is the proven tree for groups of two and more, in every native merge style (A2). */
export function describeLandingStyles(
  level: string,
  createWorld: (options?: WorldOptions) => Promise<World>,
): void {
  describe(`${level}: landing styles`, () => {
    test.each([
      ['merge', 2],
      ['merge', 4],
      ['squash', 2],
      ['squash', 4],
      ['rebase', 2],
      ['rebase', 4],
    ] as const)('%s, batch of %d: lands in order, one receipt each, trees equal', async (style, size) => {
      const world = await createWorld({ repo: { mergeStyle: style } });
      await givenProject(world.forge, {
        'shared.txt': `${Array.from({ length: 30 }, (_, line) => line).join('\n')}\n`,
      });
      const prs: number[] = [];
      for (let index = 1; index <= size; index += 1) {
        const lines = Array.from({ length: 30 }, (_, line) =>
          line === index * 5 ? `changed by ${index}` : String(line),
        );
        const pr = await world.forge.openPullRequest({
          branch: `p${index}`,
          files: { [`src/p${index}.txt`]: 'new\n', 'shared.txt': `${lines.join('\n')}\n` },
        });
        // A second commit, so that a rebase lands more than one.
        await world.forge.pushToPullRequest(pr, { [`src/p${index}.txt`]: 'newer\n' });
        await world.forge.schedule(pr, style);
        prs.push(pr);
      }
      await world.clock.advance(30_000);
      await world.drain();
      const merges = world.forge.merges();
      expect(merges.map((merge) => merge.pr)).toEqual(prs);
      expect(world.forge.runs()).toHaveLength(1);
      const actions = (await world.rows()).flatMap((row) => row.actions);
      expect(actions.map((action) => action.receipt?.tree)).toEqual(merges.map((merge) => merge.tree));
      expect(actions.map((action) => action.receipt?.mergeCommit)).toEqual(
        merges.map((merge) => merge.mergeCommit),
      );
      await expectHonestEnd(world, prs);
    });
  });

  describe(`${level}: a style that is not the repository's own (D-12)`, () => {
    const STYLES = ['merge', 'squash', 'rebase'] as const;
    const pairs = STYLES.flatMap((own) =>
      STYLES.filter((style) => style !== own).map((style) => [own, style]),
    );
    test.each(pairs as [(typeof STYLES)[number], (typeof STYLES)[number]][])(
      'staged for %s, scheduled for %s: the trees are equal, so it lands with its receipt',
      async (mergeStyle, style) => {
        const world = await createWorld({ repo: { mergeStyle } });
        await givenProject(world.forge);
        const prs: number[] = [];
        for (const name of ['one', 'two']) {
          const pr = await world.forge.openPullRequest({
            branch: name,
            files: { [`src/${name}.txt`]: 'new\n' },
          });
          await world.forge.pushToPullRequest(pr, { [`src/${name}.txt`]: 'newer\n' });
          await world.forge.schedule(pr, style);
          prs.push(pr);
        }
        await world.clock.advance(30_000);
        await world.drain();
        expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
        expect((await world.record()).halted).toBeNull();
        await expectHonestEnd(world, prs);
      },
    );
  });

  describe(`${level}: who is staged`, () => {
    test.each([
      ['open, scheduled, ready', async () => undefined, true],
      ['not scheduled', (world: World, pr: number) => world.forge.cancelSchedule(pr), false],
      ['closed', (world: World, pr: number) => world.forge.close(pr), false],
      [
        'closed and reopened: the schedule survives',
        async (world: World, pr: number) => {
          await world.forge.close(pr);
          await world.forge.reopen(pr);
        },
        true,
      ],
      ['a draft', (world: World, pr: number) => world.forge.setTitle(pr, 'WIP: later'), false],
      [
        'scheduled for another branch than the one of the queue',
        async (world: World, pr: number) => {
          await world.forge.pushBranch('next', await world.forge.tip(world.forge.base));
          await world.forge.cancelSchedule(pr);
          await world.forge.retarget(pr, 'next');
          await world.clock.advance(60_000);
          await world.forge.schedule(pr);
        },
        false,
      ],
      [
        'pushed after it was scheduled by one who may not merge',
        async (world: World, pr: number) => {
          await world.clock.advance(60_000);
          await world.forge.setAccess('stranger', 'read');
          await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'other\n' }, 'stranger');
        },
        false,
      ],
    ] as const)('%s (A30)', async (_name, change, staged) => {
      const world = await createWorld();
      await givenProject(world.forge);
      const pr = await givenScheduled(world.forge, 'a');
      await change(world, pr);
      await world.clock.advance(60_000);
      await world.drain({ maxMs: 30 * 60_000 });
      expect(world.forge.runs().length > 0).toBe(staged);
      expect((await world.forge.pull(pr)).merged).toBe(staged);
    });
  });
}
