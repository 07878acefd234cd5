import { RepoDirectories } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import { hashBlob } from '../../../../engine-container/src/staging/objects.ts';
import { renderPatch } from '../../../../engine-container/src/staging/patch.ts';
import { RepoObjects } from '../../../../engine-container/src/staging/repo-objects.ts';
import { diffTrees } from '../../../../engine-container/src/staging/tree-walk.ts';
import { STAGING, setUp, stage, success } from './set-up.ts';

describe('staging', () => {
  test('a patch makes the tree that the plan says and that the merge makes', async () => {
    const { clock, control } = setUp({ files: { 'd/a': '1', 'x y': '1', gone: '1', exec: '1', link: '1' } });
    const pr = await control.openPullRequest({
      branch: 'one',
      files: {
        'd/a': null,
        d: 'now a file',
        'x y': '2',
        gone: null,
        exec: { content: '1', mode: '100755' },
        link: { content: 'd', mode: '120000' },
        'tab\there "ü"': 'new',
        sub: { content: 'c'.repeat(40), mode: '160000' },
      },
    });
    await control.pushToBase({ other: '1' });
    const { plan, commit } = await stage(control, pr, 'main', STAGING);
    expect(commit.tree).toBe(plan.tree);
    expect(commit.parents).toEqual([await control.tip('main')]);
    expect(await control.tip(STAGING)).toBe(commit.sha);
    await control.schedule(pr, 'squash');
    await success(control, (await control.pull(pr)).headSha);
    await clock.advance(1000);
    expect(control.merges()[0]?.tree).toBe(commit.tree);
  });

  test('whole files make a commit, keep the mode of what they replace, and are refused where that is another', async () => {
    const { control, bot } = setUp({
      files: {
        a: '1',
        gone: '1',
        exec: { content: '1', mode: '100755' },
        'd/x': '1',
        link: { content: 'a', mode: '120000' },
      },
    });
    const one = hashBlob(Buffer.from('1'), 'sha1');
    const write = (path: string, replaces: string | null, content: string | null = '2') =>
      bot.writeFiles({
        branch: STAGING,
        files: [{ path, content: content === null ? null : Buffer.from(content), replaces }],
        message: 'm',
      });
    const first = await bot.writeFiles({
      branch: 'main',
      newBranch: STAGING,
      files: [
        { path: 'exec', content: Buffer.from('2'), replaces: one },
        { path: 'new/file', content: Buffer.from('3'), replaces: null },
        { path: 'gone', content: null, replaces: one },
      ],
      message: 'm',
    });
    expect(first.parents).toEqual([await control.tip('main')]);
    const listed = (await bot.readTree(first.sha, 'all')).entries ?? [];
    const modes = Object.fromEntries(listed.map(({ path, mode }) => [path, mode]));
    expect(modes).toMatchObject({ exec: '100755', 'new/file': '100644' });
    expect(modes).not.toHaveProperty('gone');
    for (const [path, replaces, status] of [
      ['a', hashBlob(Buffer.from('other'), 'sha1'), 422],
      ['a', null, 422],
      ['d', null, 422],
      ['a/b', null, 422],
      ['none', one, 404],
      ['link', hashBlob(Buffer.from('a'), 'sha1'), 422],
    ] as const)
      await expect(write(path, replaces)).rejects.toMatchObject({ status });
    expect(await control.tip(STAGING)).toBe(first.sha);
    await expect(
      bot.writeFiles({ branch: 'main', newBranch: STAGING, files: [], message: 'm' }),
    ).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('contents that were merged here come with the patch', async () => {
    const { clock, control } = setUp({ files: { f: '1\n2\n3\n4\n5\n' } });
    const pr = await control.openPullRequest({ branch: 'one', files: { f: 'one\n2\n3\n4\n5\n' } });
    await control.pushToBase({ f: '1\n2\n3\n4\nfive\n' });
    const { plan, commit } = await stage(control, pr, 'main', STAGING);
    expect(commit.tree).toBe(plan.tree);
    expect((await control.readFiles(commit.sha)).get('f')).toBe('one\n2\n3\n4\nfive\n');
    await control.schedule(pr);
    await success(control, (await control.pull(pr)).headSha);
    await clock.advance(1000);
    expect(control.merges()[0]?.tree).toBe(commit.tree);
  });

  test('a literal that is not what its id names does not apply', async () => {
    const { control, bot } = setUp({ files: { f: '1' } });
    const from = { mode: '100644', id: hashBlob(Buffer.from('1'), 'sha1') };
    const patch = await renderPatch([{ path: 'f', from, to: { mode: '100644', id: '9'.repeat(40) } }], () =>
      Buffer.from('2'),
    );
    const request = { branch: 'main', newBranch: STAGING, patch, message: 'm' };
    await expect(bot.applyPatch(request)).rejects.toMatchObject({ kind: 'unreachable', status: 500 });
    expect(await control.branches()).not.toContain(STAGING);
  });

  test('the mode of an index line overrides the one that is there', async () => {
    const { control, bot } = setUp({ files: { f: '1' } });
    const from = { mode: '100644', id: hashBlob(Buffer.from('1'), 'sha1') };
    const pr = await control.openPullRequest({ branch: 'one', files: { f: '2' } });
    expect(pr).toBe(1);
    await control.pushToBase({ f: { content: '1', mode: '100755' } });
    const to = { mode: '100644', id: hashBlob(Buffer.from('2'), 'sha1') };
    const patch = await renderPatch([{ path: 'f', from, to }]);
    const request = { branch: 'main', newBranch: STAGING, patch, message: 'm' };
    const commit = await bot.applyPatch(request);
    const staged = await bot.readTree(commit.sha, 'all');
    expect(staged.entries?.find((entry) => entry.path === 'f')?.mode).toBe('100644');
  });

  test('the patch between two trees re-stages a prefix as one commit', async () => {
    const { control, bot } = setUp();
    const from = await control.tip('main');
    const prs = [];
    for (const name of ['a', 'b'])
      prs.push(await control.openPullRequest({ branch: name, files: { [name]: name }, from }));
    const [a = 0, b = 0] = prs;
    await stage(control, a, 'main', 'work');
    const { commit } = await stage(control, b, 'work');
    const objects = new RepoObjects(bot, new RepoDirectories(), () => false);
    const [before, after] = [await objects.treeOf(from), await objects.treeOf(commit.sha)];
    const patch = await renderPatch((await objects.run(diffTrees(objects, before, after))).changes);
    const again = await bot.applyPatch({
      branch: 'main',
      newBranch: STAGING,
      patch,
      message: 'm',
    });
    expect(again).toMatchObject({ tree: commit.tree, parents: [from] });
  });

  test.each<[name: string, patch: string]>([
    ['nothing', ''],
    ['a text hunk', 'diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n'],
    [
      'an object that does not exist',
      `diff --git a/n b/n\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'9'.repeat(40)}\nBinary files /dev/null and b/n differ\n`,
    ],
    ['a path that is not there', 'diff --git a/n b/n\nold mode 100644\nnew mode 100755\n'],
  ])('a patch with %s does not apply', async (_, patch) => {
    const { bot } = setUp();
    const request = { branch: 'main', newBranch: STAGING, patch, message: 'm' };
    await expect(bot.applyPatch(request)).rejects.toMatchObject({ kind: 'unreachable', status: 500 });
  });

  test('branches exclude each other like paths', async () => {
    const { control, bot } = setUp();
    const tip = await control.tip('main');
    expect(await bot.createBranch(STAGING, tip)).toBe(true);
    expect(await bot.createBranch(STAGING, tip)).toBe(false);
    expect(await bot.createBranch(`${STAGING}/x`, tip)).toBe(false);
    expect(await bot.createBranch(`${STAGING}-x`, tip)).toBe(true);
    await bot.deleteBranch(STAGING);
    await bot.deleteBranch(STAGING);
    expect(await bot.readBranchTip(STAGING)).toBeNull();
    await expect(bot.deleteBranch('main')).rejects.toMatchObject({ kind: 'denied' });
  });
});
