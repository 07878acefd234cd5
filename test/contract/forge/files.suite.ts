import { hashBlob } from '../../../engine-container/src/staging/objects.ts';
import { renderPatch } from '../../../engine-container/src/staging/patch.ts';
import { type ForgeSubject, fakeOf, listFiles, type Needs, RepoDriver } from './subject.ts';

/** Names that a forge could take for a pattern or an escape, and that stand for themselves. */
const ODD_NAMES = [
  "it's 1.txt",
  'd/-x.txt',
  '#h.txt',
  '%41.txt',
  'a&b.txt',
  '~t.txt',
  '{x}.txt',
  '^c.txt',
  '!e.txt',
  'ü/ß.txt',
];

const idOf = (content: string): string => hashBlob(Buffer.from(content), 'sha1');

/** Whole files in one commit: what they make, and what is refused. */
export function filesSuite(subject: () => ForgeSubject, needs: Needs): void {
  const create = (files: Readonly<Record<string, string>> = {}) => RepoDriver.create(subject(), files);

  /** Mode and id by path. */
  async function filesAt(repo: RepoDriver, ref: string): Promise<Readonly<Record<string, string>>> {
    const listed = await listFiles(repo.forge, ref);
    return Object.fromEntries(listed.map(({ path, mode, id }) => [path, `${mode} ${id}`]));
  }

  test('files are added, changed and removed, onto a new branch and then onto that', async () => {
    const repo = await create({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'no more\n' });
    const base = (await repo.forge.readBranchTip('main')) ?? '';
    const first = await repo.forge.writeFiles({
      branch: 'main',
      newBranch: 'work/1',
      files: [
        { path: 'a.txt', content: Buffer.from('new  \t\r\n'), replaces: idOf('a\n') },
        { path: 'b.txt', content: null, replaces: idOf('b\n') },
        { path: 'c.txt', content: Buffer.alloc(0), replaces: idOf('no more\n') },
        { path: 'd/e f/g.txt', content: Buffer.from('no end'), replaces: null },
      ],
      message: 'stage 1 [skip ci]',
    });
    expect(first.parents).toEqual([base]);
    expect(first.message.trim()).toBe('stage 1 [skip ci]');
    expect(await repo.forge.readBranchTip('work/1')).toBe(first.sha);
    expect(await repo.forge.readBranchTip('main')).toBe(base);
    expect(await repo.forge.readCommit(first.sha)).toEqual(first);
    const expected = {
      'README.md': `100644 ${idOf('# app\n')}`,
      'a.txt': `100644 ${idOf('new  \t\r\n')}`,
      'c.txt': `100644 ${idOf('')}`,
      'd/e f/g.txt': `100644 ${idOf('no end')}`,
    };
    expect(await filesAt(repo, first.sha)).toEqual(expected);
    const second = await repo.forge.writeFiles({
      branch: 'work/1',
      files: [{ path: 'b.txt', content: Buffer.from('back\n'), replaces: null }],
      message: 'stage 2',
    });
    expect(second.parents).toEqual([first.sha]);
    expect(await repo.forge.readBranchTip('work/1')).toBe(second.sha);
    expect(await filesAt(repo, second.tree)).toEqual({ ...expected, 'b.txt': `100644 ${idOf('back\n')}` });
  });

  test('names stand for themselves, and a file that is replaced keeps its mode', async () => {
    const repo = await create(Object.fromEntries(ODD_NAMES.map((name) => [name, 'old\n'])));
    const script = Buffer.from('echo old\n');
    const patch = await renderPatch(
      [{ path: 'x.sh', from: null, to: { mode: '100755', id: idOf('echo old\n') } }],
      () => script,
    );
    await repo.forge.applyPatch({ branch: 'main', newBranch: 'work/2', patch, message: 'executable' });
    const names = [...ODD_NAMES, 'x.sh'];
    const { sha } = await repo.forge.writeFiles({
      branch: 'work/2',
      files: names.map((path) => ({
        path,
        content: Buffer.from(`new ${path}`),
        replaces: idOf(path === 'x.sh' ? 'echo old\n' : 'old\n'),
      })),
      message: 'm',
    });
    expect(await filesAt(repo, sha)).toEqual({
      'README.md': `100644 ${idOf('# app\n')}`,
      ...Object.fromEntries(
        names.map((path) => [path, `${path === 'x.sh' ? 100755 : 100644} ${idOf(`new ${path}`)}`]),
      ),
    });
  });

  test('a file that is not the one to be replaced is refused, and so is a branch that is there', async () => {
    const repo = await create({ 'a.txt': 'a\n' });
    const content = Buffer.from('new\n');
    const write = (path: string, replaces: string | null) =>
      repo.forge.writeFiles({
        branch: 'main',
        newBranch: 'work/3',
        files: [{ path, content, replaces }],
        message: 'm',
      });
    const status = subject().facts.otherBlobStatus;
    await expect(write('a.txt', idOf('# app\n'))).rejects.toMatchObject({ kind: 'rejected', status });
    await expect(write('a.txt', null)).rejects.toMatchObject({ kind: 'rejected' });
    expect(await repo.forge.readBranchTip('work/3')).toBeNull();
    await write('new.txt', null);
    await expect(write('other.txt', null)).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('the name of a new branch has at most 100 characters, of a patch too', async () => {
    const repo = await create();
    const files = [{ path: 'a.txt', content: Buffer.from('a\n'), replaces: null }];
    const patch = await renderPatch(
      [{ path: 'b.txt', from: null, to: { mode: '100644', id: idOf('b\n') } }],
      () => Buffer.from('b\n'),
    );
    const longest = `work/${'x'.repeat(94)}`;
    const refusal = { kind: 'rejected', status: 422 };
    const request = { branch: 'main', message: 'm' };
    await expect(
      repo.forge.writeFiles({ ...request, newBranch: `${longest}yz`, files }),
    ).rejects.toMatchObject(refusal);
    await expect(
      repo.forge.applyPatch({ ...request, newBranch: `${longest}yz`, patch }),
    ).rejects.toMatchObject(refusal);
    const { sha } = await repo.forge.writeFiles({ ...request, newBranch: `${longest}y`, files });
    await expect(repo.forge.createBranch(`${longest}yz`, sha)).rejects.toMatchObject(refusal);
  });

  needs('fake')(
    'a branch with a longer name, which git makes, is shown, and no commit is made on it',
    async () => {
      const repo = await create();
      const control = fakeOf(subject()).controlFor(repo.slug);
      const name = `work/${'x'.repeat(96)}`;
      await control.pushBranch(name, await control.tip('main'));
      expect(await repo.forge.readBranchTip(name)).toBe(await control.tip('main'));
      const files = [{ path: 'a.txt', content: Buffer.from('a\n'), replaces: null }];
      await expect(
        repo.forge.writeFiles({ branch: name, newBranch: 'work/5', message: 'm', files }),
      ).rejects.toMatchObject({ kind: 'rejected', status: 422 });
    },
  );

  test('a path has at most 500 characters', async () => {
    const repo = await create();
    const write = (path: string) =>
      repo.forge.writeFiles({
        branch: 'main',
        newBranch: 'work/4',
        files: [{ path, content: Buffer.from('new\n'), replaces: null }],
        message: 'm',
      });
    const longest = `${'ü/'.repeat(249)}ab`;
    await expect(write(`${longest}c`)).rejects.toMatchObject({ kind: 'rejected', status: 422 });
    const { sha } = await write(longest);
    expect(await filesAt(repo, sha)).toHaveProperty([longest]);
  });
}
