import type { EngineForge } from '#core/ports/forge.ts';
import {
  endingOf,
  expectHonestEnd,
  givenProject,
  givenRunForAnother,
  givenScheduled,
  refusalsOf,
  statusOf,
} from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;
/** From the post: two nudges, the grace of a revoke, and a run for the others. */
const OTHERS_WAIT_MS_MAX = 5 * MINUTE_MS;

/** The forge does not merge, and says so nowhere: the queue asks it why before it blames a pull request (D-14). */
export function defineBlockedMergeTests(
  createWorld: (options?: WorldOptions) => Promise<World>,
  {
    reopensWithoutBranch = true,
    readsTeams = true,
  }: { readonly reopensWithoutBranch?: boolean; readonly readsTeams?: boolean } = {},
): void {
  async function givenOthers(world: World): Promise<number[]> {
    const others: number[] = [];
    for (const name of ['a', 'b', 'c']) others.push(await givenScheduled(world.forge, name));
    return others;
  }

  async function landedSorted(world: World): Promise<readonly number[]> {
    return [...(await endingOf(world, [])).landed].sort((x, y) => x - y);
  }

  /** The others land in time, the one that is blocked has no merge time-out counted and no bounce. */
  async function expectOthersGoOn(world: World, blocked: number, others: readonly number[]): Promise<void> {
    const begun = world.clock.now();
    await world.drain({
      until: () => world.forge.merges().length === others.length,
      maxMs: 60 * MINUTE_MS,
    });
    expect(world.clock.now() - begun).toBeLessThan(OTHERS_WAIT_MS_MAX);
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect(await landedSorted(world)).toEqual(others);
    expect((await world.forge.pull(blocked)).merged).toBe(false);
    expect((await endingOf(world, [blocked, ...others])).bounced).toEqual([]);
    expect((await world.record()).mergeTimeoutCounts).toEqual([]);
    expect((await world.events()).map(({ event }) => event)).not.toContain('pr_bounced');
  }

  /** A world in which `act` happens once, right before the first success is posted. */
  async function createMeddledWorld(): Promise<{ world: World; act: (once: () => Promise<void>) => void }> {
    let meddle: (() => Promise<void>) | null = null;
    const wrapForge = (forge: EngineForge): EngineForge =>
      new Proxy(forge, {
        get(target, name) {
          const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
          return async (...values: unknown[]) => {
            const post = values[1] as { state?: string } | undefined;
            const once = name === 'postStatus' && post?.state === 'success' ? meddle : null;
            if (once !== null) meddle = null;
            await once?.();
            return call.apply(target, values);
          };
        },
      });
    const world = await createWorld({ wrapForge });
    return {
      world,
      act: (once) => {
        meddle = once;
      },
    };
  }

  describe('at admission, before a run is spent', () => {
    test.each([
      ['*.pem', 'src/KEY.pem', false],
      ['secrets/**', 'secrets/deep/one.txt', true],
      ['README.md; SRC/*.Pem ;', 'src/key.pem', true],
      ['src/*', 'src/key.pem', false],
      ['{broken;src/key.*', 'src/key.pem', true],
      ['src/other.txt', 'src/key.pem', false],
    ])('files under %p: a change of %s is protected: %p', async (patterns, path, isProtected) => {
      const world = await createWorld();
      await givenProject(world.forge);
      await world.forge.setProtection({ protectedFilePatterns: patterns });
      const pr = await givenScheduled(world.forge, 'p', 'p\n', { path });
      const others = await givenOthers(world);
      await world.drain({ maxMs: 60 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual(isProtected ? others : [pr, ...others]);
      if (isProtected) {
        expect(await statusOf(world, pr)).toMatch(/^error: refused: it changes files that the branch rule/);
        expect(await refusalsOf(world, pr)).toEqual(['protected_files']);
      }
      expect((await world.rows()).filter(({ prs }) => prs.includes(pr)).length > 0).toBe(!isProtected);
      await expectHonestEnd(world, [pr, ...others]);
    });

    test('protected files: a new head without them lands, and so does the old one once the rule lets it', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      await world.forge.setProtection({ protectedFilePatterns: 'secrets/**' });
      const [moved, kept] = [
        await givenScheduled(world.forge, 'p', 'p\n', { path: 'secrets/p' }),
        await givenScheduled(world.forge, 'q', 'q\n', { path: 'secrets/q' }),
      ];
      await world.drain({ maxMs: 10 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual([]);
      expect(await world.rows()).toEqual([]);
      await world.forge.pushToPullRequest(moved, { 'secrets/p': null, 'src/p.txt': 'p\n' });
      await world.forge.cancelSchedule(moved);
      await world.forge.schedule(moved, 'squash');
      await world.drain({ maxMs: 10 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual([moved]);
      await world.forge.setProtection({ protectedFilePatterns: '' });
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual([moved, kept]);
      await expectHonestEnd(world, [moved, kept]);
    });

    test('an open dependency is told, the others land, and it lands by itself once that is closed', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const before = await world.forge.openPullRequest({
        branch: 'first',
        files: { 'src/first.txt': 'x\n' },
      });
      const pr = await givenScheduled(world.forge, 'p');
      await world.forge.addDependency(pr, before);
      const others = await givenOthers(world);
      await expectOthersGoOn(world, pr, others);
      expect(await statusOf(world, pr)).toMatch(
        /^error: refused: an issue or pull request that it depends on/,
      );
      expect(await refusalsOf(world, pr)).toEqual(['open_dependencies']);
      expect((await world.rows()).filter(({ prs }) => prs.includes(pr))).toEqual([]);
      await world.forge.close(before);
      await world.drain({ maxMs: 10 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual([pr, ...others]);
      await expectHonestEnd(world, [pr, ...others]);
    });

    const testReopened = reopensWithoutBranch ? test : test.skip;
    testReopened(
      'opened again without its branch: told, no run is spent, and it lands once the branch is back',
      async () => {
        const world = await createWorld();
        await givenProject(world.forge);
        const pr = await givenScheduled(world.forge, 'p');
        const { headSha } = await world.forge.pull(pr);
        await world.forge.deleteBranch('p');
        await world.drain({ maxMs: 10 * MINUTE_MS });
        expect(await world.forge.pull(pr)).toMatchObject({ state: 'closed', isBranchGone: true });
        await world.forge.reopen(pr);
        const others = await givenOthers(world);
        await expectOthersGoOn(world, pr, others);
        expect(await statusOf(world, pr)).toMatch(
          /^error: refused: its branch is gone.*push that branch again, and reopen this/,
        );
        expect(await refusalsOf(world, pr)).toEqual(['branch_gone']);
        expect((await world.rows()).filter(({ prs }) => prs.includes(pr))).toEqual([]);
        await world.forge.pushBranch('p', headSha);
        await world.drain({ maxMs: 20 * MINUTE_MS });
        expect(await landedSorted(world)).toEqual([pr, ...others]);
        await expectHonestEnd(world, [pr, ...others]);
      },
    );

    test('one that depends on another of the queue lands after it', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const pr = await givenScheduled(world.forge, 'p');
      const before = await givenScheduled(world.forge, 'first');
      await world.forge.addDependency(pr, before);
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect((await endingOf(world, [])).landed).toEqual([before, pr]);
      await expectHonestEnd(world, [before, pr]);
    });
  });

  describe('when the merge does not come', () => {
    test.each([
      [
        'a dependency is added',
        'open_dependencies',
        async (world: World, pr: number, other: number) => world.forge.addDependency(pr, other),
        async (world: World, other: number) => world.forge.close(other),
      ],
      [
        'its files become protected',
        'protected_files',
        async (world: World) => world.forge.setProtection({ protectedFilePatterns: 'src/p.*' }),
        async (world: World) => world.forge.setProtection({ protectedFilePatterns: '' }),
      ],
    ])(
      '%s while its success stands: told as %s, no merge time-out counted, and it lands later',
      async (_name, reason, block, release) => {
        const { world, act } = await createMeddledWorld();
        await givenProject(world.forge);
        const before = await world.forge.openPullRequest({
          branch: 'first',
          files: { 'src/first.txt': 'x\n' },
        });
        const pr = await givenScheduled(world.forge, 'p');
        const others = await givenOthers(world);
        act(() => block(world, pr, before));
        await expectOthersGoOn(world, pr, others);
        expect(await refusalsOf(world, pr)).toEqual([reason]);
        expect(await statusOf(world, pr)).toMatch(/^error: refused: /);
        await release(world, before);
        await world.drain({ maxMs: 20 * MINUTE_MS });
        expect(await landedSorted(world)).toEqual([pr, ...others]);
        await expectHonestEnd(world, [pr, ...others]);
      },
    );

    test('a dependency that is opened again leaves no trace on it: asked before a merge time-out is counted, and told', async () => {
      const { world, act } = await createMeddledWorld();
      await givenProject(world.forge);
      const before = await world.forge.openPullRequest({
        branch: 'first',
        files: { 'src/first.txt': 'x\n' },
      });
      const pr = await givenScheduled(world.forge, 'p');
      await world.forge.addDependency(pr, before);
      await world.forge.close(before);
      const others = await givenOthers(world);
      act(() => world.forge.reopen(before));
      await expectOthersGoOn(world, pr, others);
      expect(await refusalsOf(world, pr)).toEqual(['open_dependencies']);
      await world.forge.close(before);
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual([pr, ...others]);
      await expectHonestEnd(world, [pr, ...others]);
    });

    test('another required check that fails: said as waiting, staged again once it passes', async () => {
      const { world, act } = await createMeddledWorld();
      await givenProject(world.forge);
      await world.forge.setProtection({ requiredContexts: ['mq', 'lint'] });
      const pr = await givenScheduled(world.forge, 'p');
      const others = await givenOthers(world);
      for (const each of [pr, ...others])
        await world.forge.postStatusAs('dev', (await world.forge.pull(each)).headSha, 'lint', 'success');
      const { headSha } = await world.forge.pull(pr);
      act(() => world.forge.postStatusAs('dev', headSha, 'lint', 'failure'));
      await expectOthersGoOn(world, pr, others);
      expect(await statusOf(world, pr)).toMatch(/^pending: waiting: another required check has not passed/);
      await world.forge.postStatusAs('dev', headSha, 'lint', 'success');
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual([pr, ...others]);
      await expectHonestEnd(world, [pr, ...others]);
    });

    test('a forge that does not say what blocks a merge: none is bounced, the others land, and it lands once the reason is known', async () => {
      const { world, act } = await createMeddledWorld();
      await givenProject(world.forge);
      const before = await world.forge.openPullRequest({
        branch: 'first',
        files: { 'src/first.txt': 'x\n' },
      });
      const pr = await givenScheduled(world.forge, 'p');
      const others = await givenOthers(world);
      act(() => world.forge.addDependency(pr, before));
      world.forge.fault = ({ path }) => (path.includes('/dependencies') ? { status: 500 } : null);
      await world.drain({
        until: () => world.forge.merges().length === others.length,
        maxMs: 30 * MINUTE_MS,
      });
      await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual(others);
      expect((await endingOf(world, [pr])).bounced).toEqual([]);
      expect((await world.record()).mergeTimeoutCounts).toEqual([]);
      expect(await refusalsOf(world, pr)).toEqual(['unclear']);
      world.forge.fault = () => null;
      await world.drain({ maxMs: 10 * MINUTE_MS });
      expect(await refusalsOf(world, pr)).toEqual(['open_dependencies', 'unclear']);
      await world.forge.close(before);
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect(await landedSorted(world)).toEqual([pr, ...others]);
      await expectHonestEnd(world, [pr, ...others]);
    });

    test('a forge that always fails on the question for the schedule: the landing ends without an answer', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const pr = await givenScheduled(world.forge, 'p');
      const others = await givenOthers(world);
      world.forge.mergeBehaviour = (each) => (each === pr ? { kind: 'lost' } : { kind: 'now' });
      world.forge.fault = ({ method, path }) =>
        method === 'POST' && path.endsWith(`/pulls/${pr}/merge`) ? { status: 500 } : null;
      await world.drain({
        until: () => world.forge.merges().length === others.length,
        maxMs: 60 * MINUTE_MS,
      });
      expect(await landedSorted(world)).toEqual(others);
      await expectHonestEnd(world, [pr, ...others]);
    });

    test('who scheduled loses the right to write amid the gate run: told, not bounced, and it lands once the right is back', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const pr = await givenRunForAnother(world);
      await world.forge.setAccess('dev', 'read');
      await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
      expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [] });
      expect(await refusalsOf(world, pr)).toEqual(['scheduler_left']);
      expect(world.forge.runs()).toHaveLength(1);
      await world.forge.setAccess('dev', 'write');
      await world.drain({ maxMs: 60 * MINUTE_MS });
      expect(await endingOf(world, [pr])).toEqual({ landed: [pr], bounced: [] });
    });

    test('who scheduled may only read from now on, by a team of the organization: told, not bounced', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      await world.forge.setAccess('dev', 'read');
      await world.forge.lendByTeam({ name: 'devs', members: ['dev'], code: 'write' });
      const pr = await givenRunForAnother(world);
      await world.forge.lendByTeam({ name: 'devs', members: ['dev'], code: 'read' });
      await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
      expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [] });
      expect(await refusalsOf(world, pr)).toEqual(['scheduler_left']);
      expect(world.forge.runs()).toHaveLength(1);
      await world.forge.lendByTeam({ name: 'devs', members: ['dev'], code: 'write' });
      await world.drain({ maxMs: 60 * MINUTE_MS });
      expect(await endingOf(world, [pr])).toEqual({ landed: [pr], bounced: [] });
    });

    test.each([false, true])(
      'only a team may merge from now on, and who scheduled is not in it (members hidden: %p): told, not bounced',
      async (hidden) => {
        const world = await createWorld();
        await givenProject(world.forge);
        await world.forge.setAccess('lead', 'write');
        await world.forge.lendByTeam({ name: 'leads', members: ['lead'], code: 'write', hidden });
        const pr = await givenRunForAnother(world);
        await world.forge.setProtection({ mergeList: [], mergeTeams: ['leads'] });
        await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
        expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [] });
        expect(await refusalsOf(world, pr)).toEqual([hidden || !readsTeams ? 'rule_hidden' : 'merge_list']);
        await world.forge.lendByTeam({ name: 'leads', members: ['lead', 'dev'], code: 'write', hidden });
        await world.forge.cancelSchedule(pr);
        await world.forge.schedule(pr, 'squash');
        await world.drain({ maxMs: 60 * MINUTE_MS });
        expect(await endingOf(world, [pr])).toEqual({ landed: [pr], bounced: [] });
      },
    );

    test('a merge that nothing blocks still bounces after the second time-out (A21)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const pr = await givenScheduled(world.forge, 'p');
      world.forge.mergeBehaviour = () => ({ kind: 'lost' });
      await world.drain({ maxMs: 60 * MINUTE_MS });
      expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
    });
  });
}
