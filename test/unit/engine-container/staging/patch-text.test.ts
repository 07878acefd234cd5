import { hashDirectory } from '../../../../engine-container/src/staging/hash-directory.ts';
import { computeAtHand, hashBlob, TURN } from '../../../../engine-container/src/staging/objects.ts';
import { readPatchText, type Submodules } from '../../../../engine-container/src/staging/patch-text.ts';
import { MERGE_LINES_MAX } from '../../../../engine-container/src/staging/text/merge-text.ts';

/** Trees of one file, with nothing left to be read. */
function givenTrees() {
  const directories = new Map();
  const blobs = new Map();
  const view = {
    directory: (id: string) => directories.get(id),
    blob: (id: string) => blobs.get(id),
    putDirectory: () => undefined,
    putBlob: () => undefined,
  };
  const tree = (content: string, { mode = '100644', size }: { mode?: string; size?: number } = {}) => {
    const bytes = Buffer.from(content);
    const id = hashBlob(bytes, 'sha1');
    blobs.set(id, bytes);
    const entries = [{ name: 'f', mode, id, size: size ?? bytes.length }];
    const hash = computeAtHand(hashDirectory(entries, 'sha1'));
    directories.set(hash, entries);
    return hash;
  };
  const none = computeAtHand(hashDirectory([], 'sha1'));
  directories.set(none, []);
  const reading = (from: string, to: string, submodules?: Submodules) =>
    readPatchText(view, from, to, submodules);
  return { tree, none, reading, patch: (from: string, to: string) => computeAtHand(reading(from, to)) };
}

const part = (name: string, extra = '') => `part ${name}\n1\n2\n3\n${extra}4\n5\n6\nend\n`;
const parts = (extraA: string, extraB: string) => part('a', extraA) + part('b', extraB);

test('the same lines with the same ones around them are one patch, wherever they stand', () => {
  const { tree, patch } = givenTrees();
  const before = tree(parts('', ''));
  expect(patch(before, tree(parts('new\n', '')))).toBe(patch(before, tree(parts('', 'new\n'))));
});

test('with other lines around them they are another one', () => {
  const { tree, patch } = givenTrees();
  const one = patch(tree('1\n2\n3\n4\n5\n'), tree('1\n2\nnew\n3\n4\n5\n'));
  expect(patch(tree('1\n2\n3\n4\nFIVE\n'), tree('1\n2\nnew\n3\n4\nFIVE\n'))).not.toBe(one);
});

test('white space makes no difference', () => {
  const { tree, patch } = givenTrees();
  const before = tree('a\nb\nc\n');
  expect(patch(before, tree('a\n  x\nc\n'))).toBe(patch(before, tree('a\n\tx \r\nc\n')));
});

test('a mode that changes makes none: git before 2.39 takes no notice of it', () => {
  const { tree, patch } = givenTrees();
  const [plain, runnable] = [tree('a\n'), tree('a\n', { mode: '100755' })];
  expect(patch(plain, tree('b\n', { mode: '100755' }))).toBe(patch(plain, tree('b\n')));
  expect(patch(plain, runnable)).toBe(patch(runnable, plain));
});

test('the mode of a file that is new or gone makes one', () => {
  const { tree, patch, none } = givenTrees();
  const [plain, runnable] = [tree('a\n'), tree('a\n', { mode: '100755' })];
  expect(patch(none, plain)).not.toBe(patch(none, runnable));
  expect(patch(plain, none)).not.toBe(patch(runnable, none));
});

test('submodules count unless they are passed over', () => {
  const { tree, reading, patch } = givenTrees();
  const [one, other] = ['1', '2'].map((name) => tree(name, { mode: '160000' })) as [string, string];
  expect(patch(one, other)).not.toBe(patch(one, one));
  expect(computeAtHand(reading(one, other, 'ignored'))).toBe(patch(one, one));
  const link = tree('target', { mode: '120000' });
  expect(computeAtHand(reading(one, link, 'ignored'))).toBe(patch(one, link));
});

test('a file of more lines than are compared is not', () => {
  const { tree, patch } = givenTrees();
  const lines = '\n'.repeat(MERGE_LINES_MAX);
  expect(patch(tree('a\n'), tree(`${lines}b\n`))).toBeNull();
});

test('a file that is too large is not compared', () => {
  const { tree, patch } = givenTrees();
  expect(patch(tree('a\n'), tree('b\n', { size: 5_000_000 }))).toBeNull();
});

test('a patch of a long file lets all others have turns', () => {
  const { tree, reading } = givenTrees();
  const long = Array.from({ length: 100_000 }, (_, at) => `${at}\n`).join('');
  const read = reading(tree(long), tree(`first\n${long}`));
  let turns = 0;
  for (let step = read.next(); step.done !== true; step = read.next()) if (step.value === TURN) turns += 1;
  expect(turns).toBeGreaterThanOrEqual(2);
});
