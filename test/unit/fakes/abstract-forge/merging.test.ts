import { openScheduled, setUp, success } from './set-up.ts';

describe('mergeable', () => {
  test('is false while a check runs and true again once it has ended', async () => {
    const { clock, control } = setUp();
    const { pr } = await openScheduled(control, 'one');
    expect((await control.pull(pr)).mergeable).toBe(true);
    const forkPoint = await control.tip('main');
    control.checkDelayMs = 3000;
    const tip = await control.pushToBase({ other: '1' });
    expect(await control.pull(pr)).toMatchObject({ mergeable: false, baseTip: tip, mergeBase: forkPoint });
    await clock.advance(2999);
    expect((await control.pull(pr)).mergeable).toBe(false);
    await clock.advance(1);
    expect((await control.pull(pr)).mergeable).toBe(true);
  });

  test('stays false for a conflict, comes back when the base takes the change back', async () => {
    const { control } = setUp({ files: { f: 'a\nb\nc\n' } });
    const pr = await control.openPullRequest({ branch: 'one', files: { f: 'a\nB\nc\n' } });
    await control.pushToBase({ f: 'a\nX\nc\n' });
    expect((await control.pull(pr)).mergeable).toBe(false);
    await expect(control.schedule(pr)).rejects.toThrow('cannot be merged');
    await control.pushToBase({ f: 'a\nb\nc\n' });
    expect((await control.pull(pr)).mergeable).toBe(true);
  });

  test('is true for a head that the base already holds, which is never merged', async () => {
    const { clock, control } = setUp();
    const { pr } = await openScheduled(control, 'one');
    await control.forcePushPullRequest(pr, await control.tip('main'));
    expect((await control.pull(pr)).mergeable).toBe(true);
    await success(control, await control.tip('main'));
    await clock.advance(60_000);
    expect((await control.pull(pr)).merged).toBe(false);
  });

  test('counts lines as git does: apart they merge, touching they conflict', async () => {
    for (const [theirs, mergeable] of [
      ['1\n2\n3\n4\nfive\n', true],
      ['1\n2\nthree\n4\n5\n', false],
      ['1\ntwo\n3\n4\n5\n', true],
    ] as const) {
      const { control } = setUp({ files: { f: '1\n2\n3\n4\n5\n' } });
      const pr = await control.openPullRequest({ branch: 'one', files: { f: theirs } });
      await control.pushToBase({ f: '1\ntwo\n3\n4\n5\n' });
      expect((await control.pull(pr)).mergeable).toBe(mergeable);
    }
  });
});

describe('native merge', () => {
  async function landTwo(style: 'merge' | 'squash' | 'rebase') {
    const { clock, control, bot } = setUp();
    const from = await control.tip('main');
    const one = await control.openPullRequest({ branch: 'one', files: { one: '1' }, from });
    const two = await control.openPullRequest({ branch: 'two', files: { two: '2' }, from });
    await control.pushToPullRequest(two, { three: '3' });
    for (const pr of [one, two]) {
      await control.schedule(pr, style);
      await success(control, (await control.pull(pr)).headSha);
      await clock.advance(1000);
    }
    const [first, second] = control.merges();
    if (first === undefined || second === undefined) throw new Error('not merged');
    expect(await control.tip('main')).toBe(second.mergeCommit);
    expect(second.firstParent).toBe(first.mergeCommit);
    expect([...(await control.readFiles(second.mergeCommit)).keys()]).toEqual([
      '.forgejo/workflows/mq-gate.yaml',
      'README.md',
      'one',
      'three',
      'two',
    ]);
    return { second, commit: await bot.readCommit(second.mergeCommit), first, head: second.head, bot };
  }

  test('merge joins two parents', async () => {
    const { commit, first, head } = await landTwo('merge');
    expect(commit.parents).toEqual([first.mergeCommit, head]);
  });

  test('squash makes one commit of the whole head', async () => {
    const { commit, first } = await landTwo('squash');
    expect(commit.parents).toEqual([first.mergeCommit]);
  });

  test('rebase replays each commit', async () => {
    const { commit, first, bot } = await landTwo('rebase');
    const [parent] = commit.parents;
    if (parent === undefined) throw new Error('no parent');
    expect((await bot.readCommit(parent)).parents).toEqual([first.mergeCommit]);
  });

  test('rebase keeps the commit of a head on top of the base', async () => {
    const { clock, control } = setUp();
    const { head, pr } = await openScheduled(control, 'one');
    await control.schedule(pr, 'rebase');
    await success(control, head);
    await clock.advance(1000);
    expect(await control.tip('main')).toBe(head);
  });

  test('rebase loses a line of the base that the head added and took back, merge keeps it', async () => {
    for (const [style, line] of [
      ['merge', true],
      ['rebase', false],
    ] as const) {
      const { clock, control } = setUp({ files: { f: '1\n2\n3\n' } });
      const pr = await control.openPullRequest({ branch: 'one', files: { f: '1\n2\n3\nnew\n' } });
      await control.pushToPullRequest(pr, { f: '1\n2\n3\n', g: 'g' });
      await control.pushToBase({ f: '1\n2\n3\nnew\n' });
      await control.schedule(pr, style);
      await success(control, (await control.pull(pr)).headSha);
      await clock.advance(1000);
      const files = await control.readFiles(await control.tip('main'));
      expect(files.get('f')?.includes('new')).toBe(line);
    }
  });

  test('by hand needs no status', async () => {
    const { control } = setUp();
    const { pr } = await openScheduled(control, 'one');
    const merged = await control.mergeByHand(pr);
    expect(await control.pull(pr)).toMatchObject({ merged: true, state: 'closed', mergeCommitSha: merged });
  });
});
