import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { RECONCILE_ERROR_SENTENCES } from '#core/domain/repos/repo.ts';
import { headOf, stateOf } from '../hooks.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;

/** Names of people that git cannot hold beside those of the queue. */
export function defineNameTests(createWorld: () => Promise<World>): void {
  test.each(['mq', 'mq/main', 'mq/main/staging/mine', 'mq-work'])(
    'a branch called %s is told as what it is, blames no pull request, and the queue goes on once it is gone',
    async (name) => {
      const world = await createWorld();
      await givenProject(world.forge, { 'lines.txt': 'a\nb\nc\nd\ne\nf\ng\nh\n' });
      await world.forge.pushBranch(name, await world.forge.tip(world.forge.base));
      const prs = [
        await givenScheduled(world.forge, 'first', 'A\nb\nc\nd\ne\nf\ng\nh\n', { path: 'lines.txt' }),
        // Its contents have to be merged: there a forge answers everything alike.
        await givenScheduled(world.forge, 'second', 'a\nb\nc\nd\ne\nf\ng\nH\n', { path: 'lines.txt' }),
      ];
      await world.drain({ maxMs: 10 * MINUTE_MS });
      const report = await world.reconcile();
      expect(report?.errorCode).toBe('branch_name_taken');
      expect(RECONCILE_ERROR_SENTENCES.branch_name_taken).toMatch(/rename or delete/);
      expect((await endingOf(world, prs)).landed).toEqual([]);
      for (const pr of prs)
        expect(await world.forge.status((await world.forge.pull(pr)).headSha, 'mq')).toMatchObject({
          state: 'pending',
          description: PULL_CODES.queue_stopped.says,
        });
      expect((await world.record()).deferred).toEqual([]);
      await world.forge.deleteBranch(name);
      await world.clock.advance(MINUTE_MS);
      await world.drain({ maxMs: 30 * MINUTE_MS });
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      expect((await world.reconcile())?.errorCode).toBeNull();
      await expectHonestEnd(world, prs);
    },
  );

  test.each(['branch', 'tag'] as const)(
    'a %s that git takes for the base is told as what it is, blames no pull request, and the queue goes on once it is gone',
    async (kind) => {
      const world = await createWorld();
      const { forge } = world;
      await givenProject(forge);
      const name = `refs/heads/${forge.base}`;
      const tip = await forge.tip(forge.base);
      if (kind === 'branch') await forge.pushBranch(name, tip);
      else await forge.pushTag(name, tip);
      const prs = [await givenScheduled(forge, 'first'), await givenScheduled(forge, 'second')];
      await world.drain({ maxMs: 6 * MINUTE_MS });
      expect((await world.reconcile())?.errorCode).toBe('branch_name_taken');
      expect((await world.record()).mergeTimeoutCounts).toEqual([]);
      for (const pr of prs)
        expect(await forge.status((await forge.pull(pr)).headSha, 'mq')).toMatchObject({
          state: 'pending',
          description: PULL_CODES.queue_stopped.says,
        });
      if (kind === 'branch') await forge.deleteBranch(name);
      else await forge.pushTag(name, null);
      // Forgejo has dropped the schedule of the one that it failed to merge.
      await forge.schedule(prs[0] ?? 0, 'squash');
      await world.drain({ maxMs: 30 * MINUTE_MS });
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      expect((await world.reconcile())?.errorCode).toBeNull();
      await expectHonestEnd(world, prs);
    },
  );

  test('into a tag of the name of the base nothing is merged; what is proven lands once the tag is gone', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    const ahead = await forge.openPullRequest({ branch: 'ahead', files: { 'evil.txt': 'never tested\n' } });
    await forge.pushTag(forge.base, (await forge.pull(ahead)).headSha);
    const tip = await forge.tip(forge.base);
    const prs = [await givenScheduled(forge, 'first'), await givenScheduled(forge, 'second')];
    await world.drain({ maxMs: 12 * MINUTE_MS });
    expect((await world.reconcile())?.errorCode).toBe('branch_name_taken');
    expect(RECONCILE_ERROR_SENTENCES.branch_name_taken).toMatch(/a tag with the name of the base/);
    expect(await forge.tip(forge.base)).toBe(tip);
    for (const pr of prs) expect(await stateOf(world, await headOf(world, pr))).toBe('pending');
    await forge.pushTag(forge.base, null);
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    expect(forge.runs()).toHaveLength(1);
    await expectHonestEnd(world, prs);
  });

  test('one that comes while a red batch is searched holds the search, which goes on once it is gone', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'hold';
    const prs = [
      await givenScheduled(world.forge, 'bad', 'BAD\n'),
      await givenScheduled(world.forge, 'good'),
    ];
    await world.drain({ until: () => world.forge.runs().length === 1 });
    await world.forge.deleteBranch('mq/main/staging');
    await world.forge.pushBranch('mq', await world.forge.tip(world.forge.base));
    await world.forge.finishRun(world.forge.runs()[0]?.id ?? '', 'failure');
    world.forge.judge = (files) =>
      [...files.values()].some((content) => content.includes('BAD')) ? 'failure' : 'success';
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect((await world.reconcile())?.errorCode).toBe('branch_name_taken');
    await world.forge.deleteBranch('mq');
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect(await endingOf(world, prs)).toEqual({ landed: [prs[1]], bounced: [prs[0]] });
    await expectHonestEnd(world, prs);
  });

  test.each(['mq', 'mq/main', 'mq/main/staging'])('a tag called %s does no harm', async (name) => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.pushTag(name, await world.forge.tip(world.forge.base));
    const prs = [
      await givenScheduled(world.forge, 'bad', 'BAD\n'),
      await givenScheduled(world.forge, 'good'),
    ];
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect(await endingOf(world, prs)).toEqual({ landed: [prs[1]], bounced: [prs[0]] });
    await expectHonestEnd(world, prs);
  });

  test('a tag of the same name holds nothing once the branch that was in the way is gone', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const tip = await world.forge.tip(world.forge.base);
    await world.forge.pushBranch('mq/main/staging/mine', tip);
    await world.forge.pushTag('mq/main/staging', tip);
    const pr = await givenScheduled(world.forge, 'good');
    await world.drain({ maxMs: 5 * MINUTE_MS });
    expect((await world.reconcile())?.errorCode).toBe('branch_name_taken');
    await world.forge.deleteBranch('mq/main/staging/mine');
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });

  test('a patch that is refused is not laid to a tag of the same name', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.pushTag('mq/main/staging', await world.forge.tip(world.forge.base));
    const prs = [await givenScheduled(world.forge, 'bad'), await givenScheduled(world.forge, 'good')];
    const refused = (about: string | undefined) => about?.includes('bad.txt') === true;
    world.forge.fault = ({ path, about }) =>
      path.endsWith('/diffpatch') && refused(about) ? { status: 500 } : null;
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await world.reconcile())?.errorCode).not.toBe('branch_name_taken');
    expect((await endingOf(world, prs)).landed).toEqual([prs[1]]);
  });

  test('a staging branch that a person moved before its run began is staged anew', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'never';
    const pr = await givenScheduled(world.forge, 'good');
    await world.drain({ until: async () => (await world.forge.branches()).includes('mq/main/staging') });
    await world.forge.pushBranch('mq/main/staging', await world.forge.tip(world.forge.base));
    world.forge.judge = () => 'success';
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });
}
