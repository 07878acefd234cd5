import { keyOfPaths } from '#core/contracts/paths-key.ts';
import { branchRef } from '#core/domain/forge/forge.ts';
import { MERGE_FILE_BYTES_MAX } from '#core/domain/limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { type ForgeSubject, listFiles, RepoDriver } from './subject.ts';

const NO_COMMIT = '1234567890'.repeat(4);

/** Identity, branches, commits, trees and fork points. */
export function gitSuite(subject: () => ForgeSubject): void {
  const create = (files: Readonly<Record<string, string>> = {}) => RepoDriver.create(subject(), files);
  const kindOfAbsentTip = () => (subject().facts.absentTipStatus === 404 ? 'missing' : 'unreachable');

  test('the token names its owner', async () => {
    const repo = await create();
    expect(await repo.forge.readBotLogin()).toBe(repo.loginOf('bot'));
  });

  test('branches: made at a commit, found, taken, deleted, absent', async () => {
    const repo = await create();
    const main = await repo.forge.readBranchTip('main');
    expect(main).toMatch(/^[0-9a-f]{40}$/);
    const name = 'mq/main/staging';
    expect(await repo.forge.readBranchTip(name)).toBeNull();
    expect(await repo.forge.createBranch(name, main ?? '')).toBe(true);
    expect(await repo.forge.readBranchTip(name)).toBe(main);
    expect(await repo.forge.createBranch(name, main ?? '')).toBe(false);
    await repo.forge.deleteBranch(name);
    expect(await repo.forge.readBranchTip(name)).toBeNull();
    await repo.forge.deleteBranch(name);
  });

  test('branches: one below another is taken too', async () => {
    const repo = await create();
    const main = (await repo.forge.readBranchTip('main')) ?? '';
    expect(await repo.forge.createBranch('a/b', main)).toBe(true);
    expect(await repo.forge.createBranch('a/b/c', main)).toBe(false);
    expect(await repo.forge.createBranch('a', main)).toBe(false);
  });

  test('a name in the way of a branch is found: above it or below it, not the branch itself', async () => {
    const repo = await create();
    const main = (await repo.forge.readBranchTip('main')) ?? '';
    const ours = ['mq/main/staging', 'mq-work/main/1'];
    expect(await repo.forge.findRefInTheWay(ours)).toBeNull();
    await repo.forge.createBranch('mq/main/staging', main);
    await repo.forge.createBranch('mq/other/staging', main);
    expect(await repo.forge.findRefInTheWay(ours)).toBeNull();
    await repo.forge.createBranch('mq-work', main);
    expect(await repo.forge.findRefInTheWay(ours)).toEqual({ kind: 'branch', name: 'mq-work' });
    expect(await repo.forge.findRefInTheWay(['mq/main/staging'])).toBeNull();
    expect(await repo.forge.findRefInTheWay(['mq/main'])).toEqual({
      kind: 'branch',
      name: 'mq/main/staging',
    });
  });

  test('branches: a commit that is not there is a bare 500, and the default branch is not deleted', async () => {
    const repo = await create();
    const made = repo.forge.createBranch('x', NO_COMMIT);
    await expect(made).rejects.toMatchObject({ kind: 'unreachable', status: 500, effectUnknown: true });
    expect(await repo.forge.readBranchTip('x')).toBeNull();
    await expect(repo.forge.deleteBranch('main')).rejects.toMatchObject({ kind: 'denied', status: 403 });
  });

  test('commits: tree, parents and message; an unknown one is missing', async () => {
    const repo = await create();
    const before = (await repo.forge.readBranchTip('main')) ?? '';
    const sha = await repo.commit('bot', { 'a.txt': 'a\n' }, { newBranch: 'side' });
    const commit = await repo.forge.readCommit(sha);
    expect(commit).toMatchObject({ sha, parents: [before] });
    expect(commit.message.trim()).toBe('a change');
    // A commit of the same tree on other parents: the tree's own id, not the commit's.
    const undone = await repo.commit('bot', { 'a.txt': null }, { branch: 'side' });
    expect((await repo.forge.readCommit(undone)).tree).toBe((await repo.forge.readCommit(before)).tree);
    expect(await repo.forge.readTree(commit.tree, 'all')).toEqual(await repo.forge.readTree(sha, 'all'));
    expect((await repo.forge.readTree(sha, 'one')).tree).toBe(commit.tree);
    expect((await repo.forge.readCommit(before)).parents.length).toBeLessThanOrEqual(1);
    expect(await repo.forge.readTreeId(sha)).toBe(commit.tree);
    await expect(repo.forge.readTreeId(NO_COMMIT)).rejects.toBeInstanceOf(ForgeError);
    await expect(repo.forge.readCommit(NO_COMMIT)).rejects.toMatchObject({ kind: 'missing', status: 404 });
  });

  test('history: what a branch has anew, its tip first, each with its parents; nothing where nothing is', async () => {
    const repo = await create();
    const base = (await repo.forge.readBranchTip('main')) ?? '';
    const named = 'line/of-work';
    const first = await repo.commit('bot', { 'a.txt': '1\n' }, { newBranch: named });
    const second = await repo.commit('bot', { 'a.txt': '2\n' }, { branch: named });
    const side = await repo.commit('bot', { 'b.txt': '1\n' }, { newBranch: 'side' });
    const { number } = await repo.must('bot', 'POST', '/pulls', { head: 'side', base: named, title: 't' });
    await repo.untilMergeable(number);
    const how = { Do: 'merge', delete_branch_after_merge: false };
    // A check may begin anew at any time, and until it ends the forge takes no merge.
    await repo.until(
      () => repo.api('bot', 'POST', `/pulls/${number}/merge`, how),
      (answer) => answer.status === 200,
    );
    const tip = (await repo.forge.readBranchTip(named)) ?? '';
    // Of several things that have this name, the branch is meant.
    await repo.must('bot', 'POST', '/tags', { tag_name: named, target: first });
    expect(await repo.forge.listNewCommits(base, named)).toEqual([{ sha: first, parents: [base] }]);
    const rows = await repo.forge.listNewCommits(base, branchRef(named));
    expect(rows[0]).toEqual({ sha: tip, parents: [second, side] });
    expect(rows.slice(1).map((row) => row.sha)).toEqual(expect.arrayContaining([first, second, side]));
    expect(rows).toHaveLength(4);
    expect(await repo.forge.listNewCommits(base, tip)).toEqual(rows);
    expect(await repo.forge.listNewCommits(first, second)).toEqual([{ sha: second, parents: [first] }]);
    expect(await repo.forge.listNewCommits(tip, branchRef(named))).toEqual([]);
    await expect(repo.forge.listNewCommits(base, branchRef('no-such-branch'))).rejects.toMatchObject({
      kind: kindOfAbsentTip(),
    });
  });

  test('trees: of a commit and of a tree, with directories, sizes and the tree’s own id', async () => {
    const repo = await create({ 'b/c.txt': 'c\n', 'b/a/x.txt': 'xx\n', 'b.txt': 'b\n', 'ü ñ.txt': 'u\n' });
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const { tree, entries } = await repo.forge.readTree(tip, 'all');
    expect(tree).toBe((await repo.forge.readCommit(tip)).tree);
    expect(entries?.map((entry) => entry.path).sort()).toEqual(
      ['README.md', 'b', 'b.txt', 'b/a', 'b/a/x.txt', 'b/c.txt', 'ü ñ.txt'].sort(),
    );
    const modes = new Map(entries?.map((entry) => [entry.path, entry.mode]));
    expect([modes.get('b'), modes.get('b/a'), modes.get('b.txt')]).toEqual(['040000', '040000', '100644']);
    expect(entries?.find((entry) => entry.path === 'b/a/x.txt')).toMatchObject({ size: 3 });
    expect(await repo.forge.readTree(tree, 'all')).toEqual({ tree, entries });
    const { entries: direct } = await repo.forge.readTree(tip, 'one');
    expect(direct?.map((entry) => entry.path).sort()).toEqual(['README.md', 'b', 'b.txt', 'ü ñ.txt'].sort());
    // No more is read of a blob than its tree lists, whichever way it was listed.
    expect(direct?.find((entry) => entry.path === 'b.txt')).toMatchObject({ size: 2 });
    await expect(repo.forge.readTree(NO_COMMIT, 'all')).rejects.toMatchObject({ kind: 'missing' });
  });

  test('blobs: the bytes of a file, whatever they are; an unknown one is missing', async () => {
    const repo = await create({ 'a.txt': 'zwölf\r\n', 'empty.txt': '' });
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const files = new Map((await listFiles(repo.forge, tip)).map(({ path, id }) => [path, id]));
    expect(await repo.forge.readBlob(files.get('a.txt') ?? '', MERGE_FILE_BYTES_MAX)).toEqual(
      Buffer.from('zwölf\r\n'),
    );
    expect(await repo.forge.readBlob(files.get('empty.txt') ?? '', 0)).toEqual(Buffer.alloc(0));
    await expect(repo.forge.readBlob(NO_COMMIT, MERGE_FILE_BYTES_MAX)).rejects.toBeInstanceOf(ForgeError);
  });

  test('blobs: one that is far larger than was asked for is no answer', async () => {
    const bytes = 60_000;
    const repo = await create({ 'large.txt': 'x'.repeat(bytes) });
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const id = (await listFiles(repo.forge, tip)).find(({ path }) => path === 'large.txt')?.id ?? '';
    expect((await repo.forge.readBlob(id, bytes))?.length).toBe(bytes);
    await expect(repo.forge.readBlob(id, 10)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('what the base has beyond a head, with the paths that each commit changes', async () => {
    const repo = await create({ 'old.txt': 'old\n' });
    const fork = (await repo.forge.readBranchTip('main')) ?? '';
    const head = await repo.commit('bot', { 'a.txt': '1\n' }, { newBranch: 'side' });
    const first = await repo.commit('bot', { 'b.txt': '1\n', 'd/ü.txt': '1\n' });
    const base = await repo.commit('bot', { 'old.txt': null, 'b.txt': '2\n' });
    const told = await repo.forge.listChangesSince(head, base);
    expect(told).toHaveLength(2);
    expect(told).toEqual(
      expect.arrayContaining([
        { sha: base, parents: [first], pathsKey: keyOfPaths(['b.txt', 'old.txt']) },
        { sha: first, parents: [fork], pathsKey: keyOfPaths(['b.txt', 'd/ü.txt']) },
      ]),
    );
    expect(await repo.forge.listChangesSince(base, base)).toEqual([]);
  });

  test('commits that are not there: a list below one is refused, one that is to leave it out fails', async () => {
    const repo = await create();
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const unknown = '1'.repeat(40);
    const kindOf = (read: Promise<unknown>) =>
      read.then(
        () => 'none',
        (error: unknown) => (error instanceof ForgeError ? error.kind : String(error)),
      );
    expect(await kindOf(repo.forge.readCommit(unknown))).toBe('missing');
    expect(await kindOf(repo.forge.listOwnCommits(tip, unknown))).toBe(kindOfAbsentTip());
    expect(await kindOf(repo.forge.listOwnCommits(unknown, tip))).toBe('unreachable');
    expect(await kindOf(repo.forge.listNewCommits(unknown, branchRef('main')))).toBe('unreachable');
  });

  test('own commits: a base that moved on, a head that merged it in, a head that is contained', async () => {
    const repo = await create();
    const own = async (base: string, head: string) =>
      (await repo.forge.listOwnCommits(base, head)).map(({ sha, parents }) => ({
        sha,
        parents: [...parents],
      }));
    const fork = (await repo.forge.readBranchTip('main')) ?? '';
    const head = await repo.commit('bot', { 'a.txt': '1\n' }, { newBranch: 'side' });
    const base = await repo.commit('bot', { 'b.txt': '1\n' });
    expect(await own(base, head)).toEqual([{ sha: head, parents: [fork] }]);
    expect(await own(head, fork)).toEqual([]);
    expect(await own(head, head)).toEqual([]);
    // Main is merged into the side branch by a pull request from main to it.
    const pr = (await repo.must('bot', 'POST', '/pulls', { head: 'main', base: 'side', title: 't' })).number;
    await repo.untilMergeable(pr);
    await repo.merge('bot', pr, { Do: 'merge', delete_branch_after_merge: false });
    const merged = (await repo.forge.readBranchTip('side')) ?? '';
    const later = await repo.commit('bot', { 'c.txt': '1\n' });
    expect(await own(later, merged)).toEqual(
      expect.arrayContaining([
        { sha: merged, parents: [head, base] },
        { sha: head, parents: [fork] },
      ]),
    );
  });
}
