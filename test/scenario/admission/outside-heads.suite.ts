import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { World } from '../world.ts';

/** An account without write access can push each of these; none is gated before an official approval on exactly its head (D-99). */
export const OUTSIDE = [
  ['a fork', { fork: true }, 'from a fork needs an official approval'],
  [
    'AGit, whatever the author may do',
    { agit: true },
    'pushed to refs/for, so that it needs an official approval',
  ],
  ['a branch, by an author who may only read', {}, 'its author cannot write to this repository'],
] as const;

const AUTHOR = 'guest';

export function describeOutsideHeads(
  level: string,
  createWorld: () => Promise<World>,
  kinds: readonly (typeof OUTSIDE)[number][] = OUTSIDE,
): void {
  describe(`${level}: a head from outside`, () => {
    test.each(kinds)(
      '%s: no branch and no run before an approval on exactly this head, others land meanwhile, then it lands',
      async (_name, from, words) => {
        const world = await createWorld();
        await givenProject(world.forge);
        if (Object.keys(from).length === 0) await world.forge.setAccess(AUTHOR, 'read');
        const outside = await world.forge.openPullRequest({
          branch: 'outside',
          files: { 'src/outside.txt': '1\n' },
          author: AUTHOR,
          ...from,
        });
        await world.forge.schedule(outside, 'squash');
        const other = await givenScheduled(world.forge, 'other');
        await world.drain();
        expect(await endingOf(world, [outside, other])).toEqual({ landed: [other], bounced: [] });
        const first = (await world.forge.pull(outside)).headSha;
        expect((await world.forge.status(first, 'mq'))?.description).toContain(words);
        expect(world.forge.runs()).toHaveLength(1);

        await world.forge.review(outside, 'reviewer', 'approve');
        const second = await world.forge.pushToPullRequest(outside, { 'src/outside.txt': '2\n' });
        await world.forge.cancelSchedule(outside);
        await world.forge.schedule(outside, 'squash');
        await world.drain();
        expect((await world.forge.pull(outside)).merged).toBe(false);
        expect((await world.forge.status(second, 'mq'))?.description).toContain(words);
        expect(world.forge.runs()).toHaveLength(1);

        await world.forge.review(outside, 'reviewer', 'approve');
        await world.drain();
        expect((await world.forge.pull(outside)).merged).toBe(true);
        expect(world.forge.runs()).toHaveLength(2);
        await expectHonestEnd(world, [outside, other]);
      },
    );

    test.each(kinds)(
      '%s: its approval is deleted while it is tested, which leaves no trace, and it does not land',
      async (_name, from, words) => {
        const world = await createWorld();
        await givenProject(world.forge);
        if (Object.keys(from).length === 0) await world.forge.setAccess(AUTHOR, 'read');
        world.forge.judge = () => 'hold';
        const outside = await world.forge.openPullRequest({
          branch: 'outside',
          files: { 'src/outside.txt': '1\n' },
          author: AUTHOR,
          ...from,
        });
        await world.forge.review(outside, 'reviewer', 'approve');
        await world.forge.schedule(outside, 'squash');
        await world.drain({ until: () => world.forge.runs().length > 0 });
        await world.clock.advance(60_000);
        await world.forge.deleteReviews(outside);
        for (const run of world.forge.runs()) await world.forge.finishRun(run.id, 'success');
        world.forge.judge = () => 'success';
        await world.drain();
        const { merged, headSha } = await world.forge.pull(outside);
        expect(merged).toBe(false);
        expect((await world.forge.status(headSha, 'mq'))?.description).toContain(words);
        await world.forge.review(outside, 'reviewer', 'approve');
        await world.drain();
        expect((await world.forge.pull(outside)).merged).toBe(true);
        expect(world.forge.runs()).toHaveLength(1);
        await expectHonestEnd(world, [outside]);
      },
    );
  });
}
