import { hashDirectory, sortEntries } from '../../../../engine-container/src/staging/hash-directory.ts';
import {
  computeAtHand,
  type Directory,
  findEntry,
  hashBlob,
} from '../../../../engine-container/src/staging/objects.ts';
import { comparePaths } from '../../../../engine-container/src/staging/path-change.ts';
import { MemoryObjects } from '../../../merges/trees.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

describe('hashDirectory', () => {
  test.each([
    ['sha1', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
    ['sha256', '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'],
  ] as const)('gives the well-known id of the empty tree in %s', (format, id) => {
    expect(computeAtHand(hashDirectory([], format))).toBe(id);
  });

  test('does not depend on the order of the entries, and sorts a directory as if its name ended in a slash', () => {
    const directory: Directory = [
      { name: 'a-b', mode: '100644', id: EMPTY_BLOB, size: 0 },
      { name: 'a.b', mode: '100644', id: EMPTY_BLOB, size: 0 },
      { name: 'a', mode: '040000', id: EMPTY_BLOB, size: null },
      { name: 'a0', mode: '100644', id: EMPTY_BLOB, size: 0 },
    ];
    const id = computeAtHand(hashDirectory(directory, 'sha1'));
    expect(computeAtHand(hashDirectory([...directory].reverse(), 'sha1'))).toBe(id);
  });

  test('nests a sha256 tree as git does', () => {
    // `git init --object-format=sha256`, an empty file at d/e, `git write-tree`.
    const blob = '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813';
    expect(hashBlob(Buffer.alloc(0), 'sha256')).toBe(blob);
    const d = computeAtHand(hashDirectory([{ name: 'e', mode: '100644', id: blob, size: 0 }], 'sha256'));
    expect(computeAtHand(hashDirectory([{ name: 'd', mode: '040000', id: d, size: null }], 'sha256'))).toBe(
      'f8e99b9fe7f703c304025a084641bb351f7af98c445ee2f298437f5d2b1ebe99',
    );
  });
});

test('a directory is sorted as a native sort does, equal names as they came', () => {
  const random = new SeededRandom(7);
  for (const count of [0, 1, 2, 3, 100, 1_001]) {
    const entries: Directory = Array.from({ length: count }, (_, at) => ({
      name: `${random.int(count)}`.repeat(1 + random.int(2)),
      mode: '100644',
      id: EMPTY_BLOB,
      size: at,
    }));
    const sorted = [...entries].sort((a, b) => comparePaths(a.name, b.name));
    expect(computeAtHand(sortEntries(entries))).toEqual(sorted);
  }
});

test('findEntry follows a path, and finds nothing below a file or where nothing is', () => {
  const objects = new MemoryObjects();
  const tree = objects.putTree(
    new Map([
      ['a/b/c', { mode: '100755', content: 'x' }],
      ['a/d', { mode: '100644', content: '' }],
    ]),
  );
  const find = (path: string) => computeAtHand(findEntry(objects, tree, path));
  expect(find('a/b/c')).toMatchObject({ name: 'c', mode: '100755', size: 1 });
  expect(find('a/b')).toMatchObject({ mode: '040000' });
  for (const path of ['b', 'a/b/x', 'a/d/e', 'a/b/c/d']) expect(find(path)).toBeNull();
});

test('paths are ordered by the bytes of their UTF-8, whatever letters are in them', () => {
  const letters = [
    '',
    '/',
    'a',
    'z',
    '\u00e9',
    '\u4e2d',
    '\ud7ff',
    '\ue000',
    '\uffee',
    '\u{10000}',
    '\u{1f600}',
  ];
  const paths = letters.flatMap((first) => letters.map((last) => `${first}${last}`));
  for (const a of paths)
    for (const b of paths)
      expect(Math.sign(comparePaths(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
});
