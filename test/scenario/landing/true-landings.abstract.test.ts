import { wrapForge } from '../hooks.ts';
import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

/** Landings that are right, in shapes that a check of first parents or of one page of commits takes for wrong (A2). */
describe('a proven landing is never called a wrong tree', () => {
  async function expectLanded(world: World, prs: readonly number[]): Promise<void> {
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
    expect((await world.record()).halted).toBeNull();
    expect(world.log.filter((line) => line.fields.alarm !== undefined)).toEqual([]);
    await expectHonestEnd(world, prs);
  }

  test('a fast-forward of a head that had merged the base: the old base is its second parent', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'a\n' } });
    await world.forge.pushToBase({ 'other.txt': 'x\n' });
    await world.forge.updateBranch(pr);
    await world.forge.scheduleAs('dev', pr, 'fast-forward-only');
    await world.clock.advance(30_000);
    await world.drain({ maxMs: 60 * 60_000 });
    await expectLanded(world, [pr]);
  });

  test('six rebases of eight commits each, on a forge that gives pages of twenty', async () => {
    const PAGE_ROWS = 20;
    const world = await createWorld({
      repo: { mergeStyle: 'rebase' },
      wrapForge: wrapForge(async (name, _args, answer) => {
        const got = await answer();
        return name === 'listNewCommits' && Array.isArray(got) ? got.slice(0, PAGE_ROWS) : got;
      }),
    });
    await givenProject(world.forge);
    const prs = [];
    for (let nth = 0; nth < 6; nth += 1) {
      const files = { [`src/${nth}.txt`]: '0\n' };
      const pr = await world.forge.openPullRequest({ branch: `b${nth}`, files });
      for (let each = 1; each < 8; each += 1)
        await world.forge.pushToPullRequest(pr, { [`src/${nth}-${each}.txt`]: `${each}\n` });
      prs.push(pr);
    }
    await world.clock.advance(60_000);
    for (const pr of prs) await world.forge.scheduleAs('dev', pr, 'rebase');
    await world.drain({ maxMs: 120 * 60_000 });
    await expectLanded(world, prs);
  });

  test('a rebase of 120 commits: more than one page of commits above the old base', async () => {
    const world = await createWorld({ repo: { mergeStyle: 'rebase' } });
    await givenProject(world.forge);
    const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'a.txt': '0\n' } });
    for (let i = 1; i < 120; i += 1) await world.forge.pushToPullRequest(pr, { 'a.txt': `${i}\n` });
    await world.forge.pushToBase({ 'other.txt': 'x\n' });
    await world.forge.schedule(pr, 'rebase');
    await world.clock.advance(30_000);
    await world.drain({ maxMs: 60 * 60_000 });
    await expectLanded(world, [pr]);
  });

  test('two landings behind each other, each of 40 rebased commits, are traced one by one', async () => {
    const world = await createWorld({ repo: { mergeStyle: 'rebase' } });
    await givenProject(world.forge);
    const prs: number[] = [];
    for (const name of ['a', 'b']) {
      const pr = await world.forge.openPullRequest({ branch: name, files: { [`${name}.txt`]: '0\n' } });
      for (let i = 1; i < 40; i += 1) await world.forge.pushToPullRequest(pr, { [`${name}.txt`]: `${i}\n` });
      prs.push(pr);
    }
    await world.forge.pushToBase({ 'other.txt': 'x\n' });
    for (const pr of prs) await world.forge.schedule(pr, 'rebase');
    await world.clock.advance(30_000);
    await world.drain({ maxMs: 60 * 60_000 });
    await expectLanded(world, prs);
  });
});

/** A gate run proves the state after the last pull request that it speaks for (D-101). */
describe('receipt and status say which of the two proofs a landing has', () => {
  test('the last of a batch was judged as it is, those before it are exact prefixes that no run has judged alone', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [];
    for (const name of ['a', 'b', 'c']) prs.push(await givenScheduled(world.forge, name));
    await world.clock.advance(30_000);
    await world.drain();
    const [row] = await world.rows();
    const receipts = (row?.actions ?? []).map((action) => action.receipt);
    expect(receipts.map((receipt) => receipt?.gatedTree)).toEqual(receipts.map(() => receipts[2]?.tree));
    expect(receipts.map((receipt) => receipt?.gatedTree === receipt?.tree)).toEqual([false, false, true]);
    expect(world.forge.runs().map((run) => run.tree)).toEqual([receipts[2]?.tree]);
    const words = [];
    for (const pr of prs) {
      const { headSha } = await world.forge.pull(pr);
      words.push(
        world.forge.statusHistory(headSha).find((status) => status.state === 'success')?.description,
      );
    }
    expect(words).toEqual([
      'proven: in a batch of 3 that passed the gate as a whole; landing 1 of 3',
      'proven: in a batch of 3 that passed the gate as a whole; landing 2 of 3',
      'proven: the gate passed on exactly this state; landing now',
    ]);
  });
});
