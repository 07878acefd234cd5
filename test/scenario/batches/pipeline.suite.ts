import { endingOf, expectHonestEnd, givenProject, givenScheduled, judgeByContent } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const FANOUT = 16;
const BATCHES_MIN = 3;

/** Several batches in flight on one base: built on each other, landed one by one, searched beside each other. */
export function describePipeline(
  level: string,
  createWorld: (options?: WorldOptions) => Promise<World>,
): void {
  const openRuns = (world: World) =>
    world.forge.runs().filter((run) => run.state === 'running' || run.state === 'waiting');

  /** Several batches whose runs are all out. */
  async function givenPipeline(world: World, prs: readonly number[]): Promise<void> {
    await world.clock.advance(30_000);
    for (let look = 0; look < 4; look += 1) {
      await world.reconcile();
      await world.clock.advance(15_000);
    }
    const { batches } = await world.record();
    expect(batches.length).toBeGreaterThanOrEqual(BATCHES_MIN);
    expect(batches.flatMap((batch) => batch.members.map((member) => member.pr))).toEqual(prs);
    expect(openRuns(world)).toHaveLength(batches.length);
    expect(new Set(openRuns(world).map((run) => run.branch)).size).toBe(batches.length);
    expect(batches.slice(1).map((batch) => batch.stagedOn)).toEqual(
      batches.slice(0, -1).map((batch) => batch.batchId),
    );
  }

  async function open(
    world: World,
    names: readonly string[],
    style: 'merge' | 'squash' | 'rebase' = 'squash',
  ) {
    const prs: number[] = [];
    for (const name of names) {
      const content = name.startsWith('BAD') ? 'BAD\n' : undefined;
      prs.push(await givenScheduled(world.forge, name, content, { style }));
    }
    return prs;
  }

  describe(`${level}: the pipeline`, () => {
    test.each(['merge', 'squash', 'rebase'] as const)(
      '%s: each batch is built on the one before, and lands on its own run',
      async (style) => {
        const world = await createWorld({ repo: { mergeStyle: style, bisectFanout: FANOUT } });
        await givenProject(world.forge);
        world.forge.judge = () => 'hold';
        const prs = await open(world, ['a', 'b', 'c', 'd', 'e', 'f'], style);
        await givenPipeline(world, prs);
        const runs = world.forge.runs().length;
        world.forge.judge = judgeByContent;
        for (const run of openRuns(world)) await world.forge.finishRun(run.id, 'success');
        await world.drain();
        expect((await endingOf(world, prs)).landed).toEqual(prs);
        expect(world.forge.runs()).toHaveLength(runs);
        await expectHonestEnd(world, prs);
      },
    );

    test('a pass on top lands everything below, whatever failed there', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await open(world, ['a', 'b', 'c', 'd', 'e', 'f']);
      await givenPipeline(world, prs);
      const runs = world.forge.runs().length;
      const [, second] = openRuns(world);
      const last = openRuns(world).at(-1);
      await world.forge.finishRun(second?.id ?? '', 'failure');
      await world.reconcile();
      expect((await world.rows()).map((row) => row.outcome)).toContain('held_failure');
      await world.forge.finishRun(last?.id ?? '', 'success');
      await world.drain();
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      expect(world.forge.runs()).toHaveLength(runs);
      await expectHonestEnd(world, prs);
    });

    test('what landed by a pass on top is no proven ground for blame: the rest of its batch is judged on the base that it made (A35)', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await open(world, ['a', 'b', 'c', 'd', 'e', 'f']);
      await givenPipeline(world, prs);
      const [, second] = (await world.record()).batches;
      const [first = 0, rest = 0] = second?.members.map(({ pr }) => pr) ?? [];
      const last = prs.at(-1) ?? 0;
      const name = (pr: number): string => `src/${'abcdef'[prs.indexOf(pr)]}.txt`;
      // The first one of the second batch passes only beside the last but one.
      const [, failing] = openRuns(world);
      await world.forge.finishRun(failing?.id ?? '', 'failure');
      await world.reconcile();
      world.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'slow', ms: 70_000 } : { kind: 'now' });
      await world.forge.finishRun(openRuns(world).at(-1)?.id ?? '', 'success');
      const { headSha } = await world.forge.pull(first);
      await world.drain({
        until: async () => (await world.forge.status(headSha, 'mq'))?.state === 'success',
      });
      await world.forge.pushToPullRequest(last, { [name(last)]: 'changed\n' });
      world.forge.judge = (files) =>
        files.has(name(first)) && !files.has(name(prs[4] ?? 0)) ? 'failure' : 'success';
      await world.clock.advance(80_000);
      const isMerged = async (pr: number) => (await world.forge.pull(pr)).merged;
      expect([await isMerged(first), await isMerged(rest)]).toEqual([true, false]);
      await world.drain({ maxMs: 3 * 60 * 60_000 });
      expect((await endingOf(world, prs)).bounced).toEqual([]);
    });

    test('a bounced head that is scheduled again gets another try: what failed before is not held against it (D-05)', async () => {
      const world = await createWorld();
      await givenProject(world.forge);
      const pr = await givenScheduled(world.forge, 'a');
      world.forge.judge = (files) => (files.has('src/a.txt') ? 'failure' : 'success');
      await world.drain();
      expect((await endingOf(world, [pr])).bounced).toEqual([pr]);
      const runs = world.forge.runs().length;
      world.forge.judge = judgeByContent;
      await world.clock.advance(60_000);
      await world.forge.cancelSchedule(pr);
      await world.reconcile();
      await world.forge.schedule(pr);
      await world.drain();
      expect((await world.forge.pull(pr)).merged).toBe(true);
      expect(world.forge.runs().length).toBe(runs + 1);
      await expectHonestEnd(world, [pr]);
    });

    test('the row on whose turn it is tells since when its merge is awaited; those above wait for it (D-72)', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await open(world, ['a', 'b', 'c', 'd', 'e', 'f']);
      await givenPipeline(world, prs);
      let isLost = true;
      world.forge.mergeBehaviour = () => ({ kind: isLost ? 'lost' : 'now' });
      for (const run of openRuns(world)) await world.forge.finishRun(run.id, 'success');
      const from = world.clock.now();
      await world.drain({ maxMs: 5 * 60_000 });
      const rows = [...(await world.rows())].sort((a, b) => (a.prs[0] ?? 0) - (b.prs[0] ?? 0));
      const [lowest, ...above] = rows;
      expect(above.length).toBeGreaterThanOrEqual(BATCHES_MIN - 1);
      expect(above.map((row) => row.phaseSince)).toEqual(above.map(() => undefined));
      expect([lowest?.prs[0], lowest?.phase]).toEqual([prs[0], 'waiting_merge']);
      expect((lowest?.phaseSince ?? 0) - from).toBeGreaterThanOrEqual(0);
      expect((lowest?.phaseSince ?? 0) - from).toBeLessThan(60_000);
      isLost = false;
      await world.drain();
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      expect((await world.rows()).filter((row) => row.phaseSince !== undefined)).toEqual([]);
      await expectHonestEnd(world, prs);
    });

    test('a batch that lands by the pass of one on top of it ends although that one is gone', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await open(world, ['a', 'b', 'c', 'd', 'e', 'f']);
      await givenPipeline(world, prs);
      const [first] = prs;
      const last = prs.at(-1) ?? 0;
      let isStuck = true;
      world.forge.mergeBehaviour = (pr) => ({ kind: pr === first && isStuck ? 'lost' : 'now' });
      await world.forge.finishRun(openRuns(world).at(-1)?.id ?? '', 'success');
      await world.reconcile();
      expect(world.forge.merges()).toHaveLength(0);
      await world.forge.pushToPullRequest(last, { 'src/f.txt': 'changed\n' });
      await world.clock.advance(6_000);
      await world.reconcile();
      isStuck = false;
      world.forge.judge = judgeByContent;
      await world.forge.schedule(last);
      await world.drain();
      expect((await world.record()).batches).toEqual([]);
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      await expectHonestEnd(world, prs);
    });

    test('the lowest that fails is searched beside the pipeline, which goes on at once without it', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await open(
        world,
        ['a', 'BAD b', 'c', 'd', 'e', 'f'].map((name) => name.replace(' ', '-')),
      );
      await givenPipeline(world, prs);
      for (const run of openRuns(world)) {
        await world.forge.finishRun(run.id, judgeByContent(await world.forge.readFiles(run.sha)));
      }
      await world.reconcile();
      const { batches } = await world.record();
      expect(batches.map((batch) => batch.place)).toEqual(expect.arrayContaining(['suspect', 'pipeline']));
      expect((await world.rows()).map((row) => row.outcome)).toContain('superseded');
      world.forge.judge = judgeByContent;
      for (const run of openRuns(world)) {
        await world.forge.finishRun(run.id, judgeByContent(await world.forge.readFiles(run.sha)));
      }
      await world.drain();
      const ending = await endingOf(world, prs);
      expect(ending.bounced).toEqual([prs[1]]);
      expect([...ending.landed].sort((x, y) => x - y)).toEqual(prs.filter((pr) => pr !== prs[1]));
      await expectHonestEnd(world, prs);
    });

    test('no pull request overtakes a suspect whose file it touches, and the first that came lands', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge, { 'src/hours.txt': 'nine to five\n' });
      world.forge.judge = () => 'hold';
      const first = await givenScheduled(world.forge, 'a', 'eight to five\n', { path: 'src/hours.txt' });
      const others = await open(world, ['BAD-b', 'c', 'd', 'e', 'f']);
      const prs = [first, ...others];
      await givenPipeline(world, prs);
      const finish = async (places: readonly string[]) => {
        const { batches } = await world.record();
        const branches = batches
          .filter((batch) => places.includes(batch.place))
          .flatMap((batch) => batch.nodes.map((node) => node.branch));
        for (const run of openRuns(world).filter((open) => branches.includes(open.branch))) {
          await world.forge.finishRun(run.id, judgeByContent(await world.forge.readFiles(run.sha)));
        }
      };
      await finish(['pipeline']);
      await world.reconcile();
      const late = await givenScheduled(world.forge, 'late', 'nine to six\n', { path: 'src/hours.txt' });
      for (let look = 0; look < 6; look += 1) {
        await world.clock.advance(30_000);
        await world.reconcile();
        await finish(['pipeline']);
      }
      const before = await world.record();
      expect(before.batches.map((batch) => batch.place)).toContain('suspect');
      expect(
        before.deferred.filter((deferred) => deferred.pr === late).map((deferred) => deferred.reason),
      ).toEqual(['suspect_ahead']);
      expect((await world.forge.pull(late)).merged).toBe(false);
      world.forge.judge = judgeByContent;
      await finish(['suspect', 'pipeline', 'trial']);
      await world.drain();
      const ending = await endingOf(world, [...prs, late]);
      expect(ending.bounced).toEqual([others[0]]);
      expect(ending.landed).toContain(first);
      expect(ending.landed).not.toContain(late);
      expect((await world.record()).deferred.map((deferred) => deferred.reason)).toEqual(['conflict']);
    });

    test('a push to the base ends every batch; all keep their order', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await open(world, ['a', 'b', 'c', 'd', 'e', 'f']);
      await givenPipeline(world, prs);
      await world.forge.pushToBase({ 'other.txt': 'pushed\n' });
      world.forge.judge = judgeByContent;
      await world.drain();
      expect((await endingOf(world, prs)).landed).toEqual(prs);
      const ended = (await world.rows()).filter((row) => row.terminalReason === 'base_advanced');
      expect(ended.length).toBeGreaterThanOrEqual(1);
      await expectHonestEnd(world, prs);
    });

    test('a head that changes in the middle takes along what is built on it, and nothing below', async () => {
      const world = await createWorld({ repo: { bisectFanout: FANOUT } });
      await givenProject(world.forge);
      world.forge.judge = () => 'hold';
      const prs = await open(world, ['a', 'b', 'c', 'd', 'e', 'f']);
      await givenPipeline(world, prs);
      const [bottom] = (await world.record()).batches;
      const third = prs[2] ?? 0;
      await world.forge.pushToPullRequest(third, { 'src/c.txt': 'changed\n' });
      await world.clock.advance(5_000);
      await world.reconcile();
      const { batches } = await world.record();
      expect(batches[0]?.batchId).toBe(bottom?.batchId);
      world.forge.judge = judgeByContent;
      for (const run of openRuns(world)) await world.forge.finishRun(run.id, 'success');
      await world.drain();
      // The push of one who may merge renews its schedule.
      expect((await endingOf(world, prs)).landed.toSorted((one, other) => one - other)).toEqual(prs);
      await expectHonestEnd(world, prs);
    });
  });
}
