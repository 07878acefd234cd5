import type { CommitSha } from '#core/domain/ids.ts';
import { DIRECTORY_MEMORY_ENTRIES_MAX, MERGE_FILE_BYTES_MAX } from '#core/domain/limits.ts';
import { type ChangedCommit, type EngineForge, ForgeError } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../../../engine-container/src/reconcile/engine-memory.ts';
import { hashDirectory } from '../../../../../engine-container/src/staging/hash-directory.ts';
import { computeAtHand, type DirectoryEntry } from '../../../../../engine-container/src/staging/objects.ts';
import { RebasedOver } from '../../../../../engine-container/src/staging/rebase/rebased-over.ts';
import { RepoObjects } from '../../../../../engine-container/src/staging/repo-objects.ts';

const commit = (sha: string): ChangedCommit => ({ sha, parents: ['root'], pathsKey: null });

/** Looks at what the base has beyond a head, and what the forge is asked for. */
function givenForge(listed: (head: CommitSha, base: CommitSha) => readonly ChangedCommit[]) {
  const asked: string[] = [];
  const forge = {
    listChangesSince: async (head: CommitSha, base: CommitSha) => {
      asked.push(`${base} beyond ${head}`);
      return listed(head, base);
    },
  } as unknown as EngineForge;
  const memory = new RepoDirectories();
  const look = (base: CommitSha) =>
    new RebasedOver({ forge, objects: new RepoObjects(forge, memory, () => false) }, base).listLeftOut(
      'head',
      [],
      false,
    );
  return { asked, memory, look };
}

test('a base that moved on is asked for what is new on it, and one that stands still for nothing', async () => {
  const { asked, look } = givenForge((_, base) => [commit(`of ${base}`)]);
  for (const base of ['b1', 'b1', 'b2']) await look(base);
  expect(asked).toEqual(['b1 beyond head', 'b2 beyond b1']);
});

test('a base of before that the forge no longer has: the next look asks for all', async () => {
  const { asked, look } = givenForge((head) => {
    if (head === 'b1') throw new ForgeError('missing', 'GET commits?not', 404);
    return [];
  });
  await look('b1');
  await expect(look('b2')).rejects.toThrow(ForgeError);
  await look('b2');
  expect(asked.at(-1)).toBe('b2 beyond head');
});

test('what is kept of the base counts in the memory of an engine', async () => {
  const { memory, look } = givenForge(() =>
    Array.from({ length: DIRECTORY_MEMORY_ENTRIES_MAX }, (_, at) => commit(`${at}`)),
  );
  await look('b1');
  expect(memory.size).toBe(DIRECTORY_MEMORY_ENTRIES_MAX);
});

test('of commits that all change one file each is compared once, however many of the other side ask', async () => {
  const count = 30;
  const { memory } = givenForge(() => []);
  let asked = 0;
  const patches = memory.patches as Map<string, string | null>;
  const get = patches.get.bind(patches);
  patches.get = (place) => {
    asked += 1;
    return get(place);
  };
  const put = (id: string): string => {
    const file = { name: 'f', mode: '100644', id: id.padStart(40, '0'), size: 1 };
    const tree = computeAtHand(hashDirectory([file], 'sha1'));
    memory.put(tree, [file]);
    return tree;
  };
  const stepsOf = (side: string) =>
    Array.from({ length: count }, (_, at) => ({ parent: put(`${side}${at}`), sha: put(`${side}${at + 1}`) }));
  const [before, own] = [stepsOf('a'), stepsOf('b')];
  for (const { parent, sha } of [...before, ...own])
    patches.set(`${parent} ${sha} compared`, `${parent}${sha}`);
  const forge = {} as EngineForge;
  memory.trees.set('head', put('head'));
  const over = new RebasedOver({ forge, objects: new RepoObjects(forge, memory, () => false) }, 'base');
  over.add(before);
  expect(await over.listLeftOut('head', own, true)).toEqual(new Set());
  expect(asked).toBe(2 * count);
  expect(await over.listLeftOut('head', before, true)).toEqual(new Set(before.map(({ sha }) => sha)));
});

describe('a commit that moves a submodule', () => {
  const submoduleAt = (commit: string): DirectoryEntry => ({
    name: 'sub',
    mode: '160000',
    id: commit.repeat(40),
    size: null,
  });

  /** A head that moves its submodule, under these rules, and a base that made `count` commits of one file of its own. */
  async function leftOut(
    gitmodules: string | null,
    count: number,
    change: 'none' | 'file' | 'submodule',
    size = 1,
  ) {
    const { memory } = givenForge(() => []);
    const rules = gitmodules === null ? [] : [{ name: '.gitmodules', mode: '100644', id: RULES, size }];
    const put = (commit: string, content: string): string => {
      const f = { name: 'f', mode: '100644', id: content.padStart(40, '0'), size: 1 };
      const directory = [...rules, f, submoduleAt(commit)];
      const tree = computeAtHand(hashDirectory(directory, 'sha1'));
      memory.put(tree, directory);
      return tree;
    };
    const forge = {
      listChangesSince: async () => [],
      readBlob: async (id: string) => Buffer.from(id === RULES ? `${gitmodules}` : id),
    } as unknown as EngineForge;
    const over = new RebasedOver({ forge, objects: new RepoObjects(forge, memory, () => false) }, 'base');
    const treeAt = (at: number): string =>
      put(change === 'submodule' ? `${at}` : '1', change === 'file' ? `${at}` : '0');
    over.add(Array.from({ length: count }, (_, at) => ({ parent: treeAt(at), sha: treeAt(at + 1) })));
    const step = { parent: put('1', '0'), sha: put('9', '0') };
    const found = await over.listLeftOut(step.sha, [step], true);
    return found.has(step.sha);
  }

  const RULES = 'd'.repeat(40);
  const withIgnore = (value: string): string => `[submodule "sub"]\n\tpath = sub\n\tignore = ${value}\n`;

  // `git rebase` skips such a commit as one that was applied before: seen with git 2.39.
  test.each([
    ['another one of the base does', 'submodule'],
    ['the base has a commit without a change', 'none'],
  ] as const)('may be left out where git compares no submodules, and %s', async (_, change) => {
    expect(await leftOut(withIgnore('all'), 1, change)).toBe(true);
    expect(await leftOut('[submodule "sub"] ignore="all"', 1, change)).toBe(true);
    expect(await leftOut(withIgnore('dirty'), 1, change)).toBe(false);
    expect(await leftOut(null, 1, change)).toBe(false);
  });

  test('may be left out where the rules are more than are read', async () => {
    expect(await leftOut(withIgnore('none'), 1, 'submodule', MERGE_FILE_BYTES_MAX)).toBe(false);
    expect(await leftOut(withIgnore('none'), 1, 'submodule', MERGE_FILE_BYTES_MAX + 1)).toBe(true);
  });

  test('is not where the base changed files alone', async () => {
    expect(await leftOut(withIgnore('all'), 3, 'file')).toBe(false);
  });

  test('may be left out of a base that made more commits than are compared', async () => {
    expect(await leftOut(withIgnore('all'), 201, 'file')).toBe(true);
  });
});
