import type { TreeEntry } from '#core/domain/forge/forge.ts';
import { hashBlob } from '../../../engine-container/src/staging/objects.ts';
import { renderPatch } from '../../../engine-container/src/staging/patch.ts';
import { type ForgeSubject, listFiles, RepoDriver } from './subject.ts';

const LINES = Array.from({ length: 30 }, (_, n) => `line ${n}`);
const text = (change: Readonly<Record<number, string>>) =>
  `${LINES.map((line, n) => change[n] ?? line).join('\n')}\n`;

/** The content-free patch: what it makes, and how a conflict shows. */
export function patchSuite(subject: () => ForgeSubject): void {
  const create = (files: Readonly<Record<string, string>> = {}) => RepoDriver.create(subject(), files);

  async function entry(repo: RepoDriver, ref: string, path: string): Promise<TreeEntry> {
    const found = (await listFiles(repo.forge, ref)).find((each) => each.path === path);
    if (found === undefined) throw new Error(`no ${path} in ${ref}`);
    return found;
  }

  test('adds, changes and deletes without any content, onto a new branch and then onto that', async () => {
    const repo = await create({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const base = (await repo.forge.readBranchTip('main')) ?? '';
    const head = await repo.commit(
      'bot',
      { 'a.txt': 'new\n', 'b.txt': null, 'd/ü x.txt': 'd\n' },
      { newBranch: 'side' },
    );
    const patch = await renderPatch([
      { path: 'a.txt', from: await entry(repo, base, 'a.txt'), to: await entry(repo, head, 'a.txt') },
      { path: 'b.txt', from: await entry(repo, base, 'b.txt'), to: null },
    ]);
    const first = await repo.forge.applyPatch({
      branch: 'main',
      newBranch: 'work/1',
      patch,
      message: 'stage 1 [skip ci]',
    });
    expect(first.parents).toEqual([base]);
    expect(first.message.trim()).toBe('stage 1 [skip ci]');
    expect(await repo.forge.readBranchTip('work/1')).toBe(first.sha);
    expect(await repo.forge.readBranchTip('main')).toBe(base);
    const added = await renderPatch([
      { path: 'd/ü x.txt', from: null, to: await entry(repo, head, 'd/ü x.txt') },
    ]);
    const second = await repo.forge.applyPatch({
      branch: 'work/1',
      patch: added,
      message: 'stage 2',
    });
    expect(second.parents).toEqual([first.sha]);
    // The very tree of the head, proven by its id alone.
    expect(second.tree).toBe((await repo.forge.readCommit(head)).tree);
    expect(await repo.forge.readCommit(second.sha)).toEqual(second);
  });

  test('takes contents that it does not have, byte for byte, whatever they look like', async () => {
    const trailing = 'zeile  \t\r\n\r\nohne Ende \x01';
    const repo = await create({ 'f.txt': text({}), 'x.sh': 'old\n' });
    const base = (await repo.forge.readBranchTip('main')) ?? '';
    const contents = { 'f.txt': Buffer.from(text({ 2: 'merged  ' })), 'x.sh': Buffer.from(trailing) };
    const changes = await Promise.all(
      Object.entries(contents).map(async ([path, content]) => {
        const from = await entry(repo, base, path);
        return { path, from, to: { mode: from.mode, id: hashBlob(content, 'sha1') } };
      }),
    );
    const made = new Map(Object.values(contents).map((content) => [hashBlob(content, 'sha1'), content]));
    const patch = await renderPatch(changes, (id) => made.get(id));
    const commit = await repo.forge.applyPatch({ branch: 'main', newBranch: 'work/2', patch, message: 'm' });
    const expected = await repo.commit(
      'bot',
      { 'f.txt': text({ 2: 'merged  ' }), 'x.sh': trailing },
      { newBranch: 'by-hand' },
    );
    expect(commit.tree).toBe((await repo.forge.readCommit(expected)).tree);
    for (const [id, content] of made) expect(await repo.forge.readBlob(id, content.length)).toEqual(content);
  });

  test('a patch that does not apply is a bare 500, as any fault of the server', async () => {
    const repo = await create({ 'f.txt': text({}) });
    const fork = (await repo.forge.readBranchTip('main')) ?? '';
    const clash = await repo.commit('bot', { 'f.txt': text({ 2: 'theirs' }) }, { newBranch: 'clash' });
    await repo.commit('bot', { 'f.txt': text({ 2: 'ours' }) });
    const patch = await renderPatch([
      { path: 'f.txt', from: await entry(repo, fork, 'f.txt'), to: await entry(repo, clash, 'f.txt') },
    ]);
    const applied = repo.forge.applyPatch({ branch: 'main', newBranch: 'work/3', patch, message: 'm' });
    await expect(applied).rejects.toMatchObject({ kind: 'unreachable', status: 500, effectUnknown: true });
    expect(await repo.forge.readBranchTip('work/3')).toBeNull();
  });

  test('a blob that the forge does not have, a branch that is missing, a new branch that exists', async () => {
    const repo = await create({ 'a.txt': 'a\n' });
    const base = (await repo.forge.readBranchTip('main')) ?? '';
    const head = await repo.commit('bot', { 'a.txt': 'new\n' }, { newBranch: 'side' });
    const from = await entry(repo, base, 'a.txt');
    const good = await renderPatch([{ path: 'a.txt', from, to: await entry(repo, head, 'a.txt') }]);
    const absent = await renderPatch([
      { path: 'a.txt', from, to: { mode: '100644', id: '1234567890'.repeat(4) } },
    ]);
    const request = { branch: 'main', newBranch: 'w', patch: good, message: 'm' };
    await expect(repo.forge.applyPatch({ ...request, patch: absent })).rejects.toMatchObject({ status: 500 });
    const lost = repo.forge.applyPatch({ ...request, branch: 'nowhere' });
    await expect(lost).rejects.toMatchObject({ kind: 'missing', status: 404 });
    const taken = repo.forge.applyPatch({ ...request, newBranch: 'side' });
    await expect(taken).rejects.toMatchObject({ kind: 'rejected', status: 422 });
  });

  test('a protected branch is denied', async () => {
    const repo = await create({ 'a.txt': 'a\n' });
    const base = (await repo.forge.readBranchTip('main')) ?? '';
    const head = await repo.commit('bot', { 'a.txt': 'new\n' }, { newBranch: 'side' });
    await repo.must('bot', 'POST', '/branch_protections', { rule_name: 'main' });
    const patch = await renderPatch([
      { path: 'a.txt', from: await entry(repo, base, 'a.txt'), to: await entry(repo, head, 'a.txt') },
    ]);
    const onto = repo.forge.applyPatch({ branch: 'main', patch, message: 'm' });
    await expect(onto).rejects.toMatchObject({ kind: 'denied', status: 403 });
    expect(await repo.forge.readBranchTip('main')).toBe(base);
  });

  test('a new branch that a rule covers is denied, on Forgejo as if the forge had failed; making it without a patch fails so everywhere', async () => {
    const repo = await create({ 'a.txt': 'a\n' });
    const base = (await repo.forge.readBranchTip('main')) ?? '';
    const head = await repo.commit('bot', { 'a.txt': 'new\n' }, { newBranch: 'side' });
    await repo.must('bot', 'POST', '/branch_protections', { rule_name: 'ruled/**' });
    const patch = await renderPatch([
      { path: 'a.txt', from: await entry(repo, base, 'a.txt'), to: await entry(repo, head, 'a.txt') },
    ]);
    const onto = repo.forge.applyPatch({ branch: 'main', newBranch: 'ruled/a', patch, message: 'm' });
    await expect(onto).rejects.toMatchObject({ status: subject().facts.ruledPatchStatus });
    await expect(repo.forge.createBranch('ruled/b', base)).rejects.toMatchObject({ status: 500 });
    expect(await repo.forge.readBranchTip('ruled/a')).toBeNull();
  });
}
