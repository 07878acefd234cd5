import { hashDirectory } from '../../../../engine-container/src/staging/hash-directory.ts';
import {
  type Computation,
  computeAtHand,
  type Directory,
  type DirectoryEntry,
  TURN,
} from '../../../../engine-container/src/staging/objects.ts';
import { planMerge, planPick } from '../../../../engine-container/src/staging/three-way.ts';
import { editTree } from '../../../../engine-container/src/staging/tree-edit.ts';
import { diffTrees } from '../../../../engine-container/src/staging/tree-walk.ts';
import { MemoryObjects } from '../../../merges/trees.ts';

const file = (name: string, content = 'a'): DirectoryEntry => ({
  name,
  mode: '100644',
  id: content.repeat(40),
  size: 1,
});
const folder = (name: string, id: string): DirectoryEntry => ({ name, mode: '040000', id, size: null });

function put(objects: MemoryObjects, directory: Directory): string {
  const id = computeAtHand(hashDirectory(directory, 'sha1'));
  objects.putDirectory(id, directory);
  return id;
}

/** `count` names for one directory, `levels` times over, with as many files at the end. */
function repeated(objects: MemoryObjects, count: number, levels: number, nameChars = 4): string {
  const names = Array.from({ length: count }, (_, at) => String(at).padStart(nameChars, 'n'));
  let id = put(
    objects,
    names.map((name) => file(name)),
  );
  for (let level = 1; level < levels; level += 1)
    id = put(
      objects,
      names.map((name) => folder(name, id)),
    );
  return id;
}

/** The merge of a head that adds such a directory. */
function addRepeated(...size: [count: number, levels: number, nameChars?: number]) {
  const objects = new MemoryObjects();
  const added = repeated(objects, ...size);
  const base = put(objects, [file('a')]);
  const ours = put(objects, [file('a', 'b')]);
  const theirs = put(objects, [file('a'), folder('z', added)]);
  return { objects, trees: { base, ours, theirs } };
}

test.each<[name: string, size: [count: number, levels: number, nameChars?: number]]>([
  ['a thousand names for one directory of a thousand files', [1_000, 2]],
  ['a billion files in three directories', [1_000, 3]],
  ['fewer files with names that are as long as names can be', [300, 2, 255]],
])('more changes than the memory of the engine holds are refused, and not listed: %s', (_, size) => {
  const { objects, trees } = addRepeated(...size);
  const refused = { kind: 'refused', reason: 'too_many_files' };
  expect(computeAtHand(planMerge(objects, trees))).toEqual(refused);
  expect(computeAtHand(planPick(objects, trees))).toEqual(refused);
});

/** A head that adds a file so deep; each folder is an object of one entry. */
function addDeep(depth: number) {
  const objects = new MemoryObjects();
  const base = put(objects, [file('a')]);
  let id = put(objects, [file('f')]);
  for (let level = 1; level < depth; level += 1) id = put(objects, [folder('d', id)]);
  const trees = {
    base,
    ours: put(objects, [file('a', 'b')]),
    theirs: put(objects, [file('a'), folder('d', id)]),
  };
  return { objects, trees };
}

test('a file that is nested too deep is refused, and does not end in an overflow of the stack', () => {
  const deepest = addDeep(1_000);
  expect(computeAtHand(planMerge(deepest.objects, deepest.trees))).toMatchObject({ kind: 'plan' });
  for (const depth of [1_001, 3_000]) {
    const { objects, trees } = addDeep(depth);
    const refused = { kind: 'refused', reason: 'too_many_files' };
    expect(computeAtHand(planMerge(objects, trees))).toEqual(refused);
    expect(computeAtHand(planPick(objects, trees))).toEqual(refused);
  }
});

test('two versions of a large directory are not compared under each of a thousand names', () => {
  const objects = new MemoryObjects();
  const names = Array.from({ length: 2_000 }, (_, at) => `f${at}`);
  const before = put(
    objects,
    names.map((name) => file(name)),
  );
  const after = put(
    objects,
    names.map((name, at) => file(name, at === 0 ? 'b' : 'a')),
  );
  const [base, theirs] = [before, after].map((id) =>
    put(
      objects,
      names.slice(0, 1_000).map((name) => folder(name, id)),
    ),
  );
  const ours = put(objects, [...names.slice(0, 1_000).map((name) => folder(name, before)), file('new')]);
  const trees = { base: base ?? '', ours, theirs: theirs ?? '' };
  expect(computeAtHand(planMerge(objects, trees))).toEqual({ kind: 'refused', reason: 'too_many_files' });
});

function run<Result>(reading: Computation<Result>): { readonly turns: number; readonly result: Result } {
  for (let turns = 0; ; ) {
    const step = reading.next();
    if (step.done === true) return { turns, result: step.value };
    if (step.value === TURN) turns += 1;
  }
}

test('a change of tens of thousands of files is merged, and lets all others have turns', () => {
  const { objects, trees } = addRepeated(200, 2);
  const { turns, result } = run(planMerge(objects, trees));
  expect(result).toMatchObject({ kind: 'plan', changes: { length: 40_000 } });
  expect(turns).toBeGreaterThan(4);
});

test('a change of one file among tens of thousands lets all others have turns', () => {
  const objects = new MemoryObjects();
  const names = Array.from({ length: 60_000 }, (_, at) => `f${String(at).padStart(5, '0')}`);
  const all = names.map((name) => file(name));
  const [base, theirs] = [all, [...all, file('g')]].map((entries) => put(objects, entries));
  const { turns, result } = run(diffTrees(objects, base ?? '', theirs ?? ''));
  expect(result.changes).toHaveLength(1);
  expect(turns).toBeGreaterThanOrEqual(1);
  const edit = run(editTree(objects, base ?? '', result.changes));
  expect(edit.result).toBe(theirs);
  expect(edit.turns).toBeGreaterThan(4);
});

test('a directory that is written anew loses those with nothing in them, as in the index of git', () => {
  const objects = new MemoryObjects();
  const empty = put(objects, []);
  const inner = put(objects, [folder('empty', empty), file('kept')]);
  const base = put(objects, [folder('empty', empty), file('f'), folder('inner', inner)]);
  const edited = computeAtHand(editTree(objects, base, [{ path: 'f', to: null }]));
  expect(edited).toBe(put(objects, [folder('inner', inner)]));
});
