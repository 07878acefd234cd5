import { hashTree } from '../../../../engine-container/src/staging/tree-hash.ts';

describe('hashTree', () => {
  test.each([
    ['sha1', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
    ['sha256', '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'],
  ] as const)('gives the well-known id of the empty tree in %s', (format, id) => {
    expect(hashTree([], format)).toBe(id);
  });

  test('does not depend on the order of the listing', () => {
    const id = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
    const entries = ['a/b', 'a.b', 'a-b', 'a0/x/y', 'a0/x/z'].map((path) => ({ path, mode: '100644', id }));
    expect(hashTree([...entries].reverse())).toBe(hashTree(entries));
  });

  test('nests a sha256 tree as git does', () => {
    // `git init --object-format=sha256`, an empty file at d/e, `git write-tree`.
    const id = '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813';
    expect(hashTree([{ path: 'd/e', mode: '100644', id }], 'sha256')).toBe(
      'f8e99b9fe7f703c304025a084641bb351f7af98c445ee2f298437f5d2b1ebe99',
    );
  });
});
