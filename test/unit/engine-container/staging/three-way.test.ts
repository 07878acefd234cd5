import type { TreeEntry } from '#core/domain/forge.ts';
import { planMerge } from '../../../../engine-container/src/staging/three-way.ts';

/** `path` -> `id` (a regular file) or `mode:id`. */
type Listing = Readonly<Record<string, string>>;

function tree(listing: Listing): readonly TreeEntry[] {
  return Object.entries(listing).map(([path, text]) => {
    const [first = '', second] = text.split(':');
    return second === undefined ? { path, mode: '100644', id: first } : { path, mode: first, id: second };
  });
}

function plan(base: Listing, ours: Listing, theirs: Listing) {
  return planMerge({ base: tree(base), ours: tree(ours), theirs: tree(theirs) });
}

describe('planMerge merges', () => {
  test.each<[name: string, base: Listing, ours: Listing, theirs: Listing, result: Listing]>([
    ['nothing where theirs is the base', { f: '1' }, { f: '2' }, { f: '1' }, { f: '2' }],
    ['nothing where both did the same', { f: '1' }, { f: '2' }, { f: '2' }, { f: '2' }],
    ['nothing where both added the same', {}, { f: '2' }, { f: '2' }, { f: '2' }],
    ['nothing where both deleted', { f: '1' }, {}, {}, {}],
    ['a change of theirs alone', { f: '1' }, { f: '1' }, { f: '2' }, { f: '2' }],
    ['an addition beside ours', {}, { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    ['a deletion', { f: '1', g: '1' }, { f: '1', g: '2' }, { g: '1' }, { g: '2' }],
    ['a change of type', { f: '1' }, { f: '1' }, { f: '120000:2' }, { f: '120000:2' }],
    ['their mode with our content', { f: '1' }, { f: '2' }, { f: '100755:1' }, { f: '100755:2' }],
    ['our mode with their content', { f: '1' }, { f: '100755:1' }, { f: '2' }, { f: '100755:2' }],
    ['the mode that theirs took back', { f: '100755:1' }, { f: '100755:2' }, { f: '2' }, { f: '2' }],
    [
      'a mode of theirs where both made the same edit',
      { f: '1' },
      { f: '2' },
      { f: '100755:2' },
      { f: '100755:2' },
    ],
    [
      'a submodule of theirs alone',
      { s: '160000:1' },
      { s: '160000:1' },
      { s: '160000:2' },
      { s: '160000:2' },
    ],
    ['a file that becomes a directory', { f: '1' }, { f: '1' }, { 'f/g': '1' }, { 'f/g': '1' }],
    ['a directory that becomes a file', { 'f/g': '1' }, { 'f/g': '1' }, { f: '1' }, { f: '1' }],
  ])('%s', (_, base, ours, theirs, result) => {
    const merged = plan(base, ours, theirs);
    expect(merged).toMatchObject({ kind: 'plan', contentMerges: [], result: tree(result) });
  });

  test('nothing at all into an empty plan', () => {
    expect(plan({ f: '1' }, { f: '2', g: '3' }, { f: '2' })).toMatchObject({ kind: 'plan', changes: [] });
  });

  test('in the byte order of git, whatever the order of the listings', () => {
    const merged = plan(
      {},
      { z: '1', 'a/b': '1', '\u{1f600}': '1' },
      { 'a.b': '2', '\uff5e': '2', 'a-b': '2' },
    );
    expect(merged.kind === 'plan' && merged.result?.map((entry) => entry.path)).toEqual([
      'a-b',
      'a.b',
      'a/b',
      'z',
      '\uff5e',
      '\u{1f600}',
    ]);
  });
});

describe('planMerge leaves contents to the forge', () => {
  test.each([
    ['of equal modes', '1', '2', '3', { mode: '100644', id: '1' }, { mode: '100644', id: '3' }],
    ['under our new mode', '1', '100755:2', '3', { mode: '100755', id: '1' }, { mode: '100755', id: '3' }],
    ['under their new mode', '1', '2', '100755:3', { mode: '100644', id: '1' }, { mode: '100755', id: '3' }],
  ])('%s', (_, base, ours, theirs, from, to) => {
    expect(plan({ f: base }, { f: ours }, { f: theirs })).toEqual({
      kind: 'plan',
      changes: [{ path: 'f', from, to }],
      result: null,
      contentMerges: ['f'],
    });
  });
});

describe('planMerge finds the conflict', () => {
  test.each<[name: string, base: Listing, ours: Listing, theirs: Listing, paths: readonly string[]]>([
    ['we deleted, they modified', { f: '1' }, {}, { f: '2' }, ['f']],
    ['we modified, they deleted', { f: '1' }, { f: '2' }, {}, ['f']],
    ['a mode counts as a modification', { f: '1' }, { f: '100755:1' }, {}, ['f']],
    ['both added other contents', {}, { f: '1' }, { f: '2' }, ['f']],
    ['both added with other modes', {}, { f: '1' }, { f: '100755:1' }, ['f']],
    ['both moved a symlink', { f: '120000:1' }, { f: '120000:2' }, { f: '120000:3' }, ['f']],
    ['both moved a submodule', { f: '160000:1' }, { f: '160000:2' }, { f: '160000:3' }, ['f']],
    ['an edit against a change of type', { f: '1' }, { f: '2' }, { f: '120000:3' }, ['f']],
    ['our file, their directory', {}, { f: '1' }, { 'f/g/h': '2' }, ['f']],
    ['our directory, their file', {}, { 'f/g': '1' }, { f: '2' }, ['f']],
    [
      'a new file in the directory they replaced',
      { 'f/g': '1' },
      { 'f/g': '1', 'f/h': '2' },
      { f: '3' },
      ['f'],
    ],
    ['every path of it', { a: '1', b: '1' }, { a: '2' }, { b: '3' }, ['a', 'b']],
  ])('%s', (_, base, ours, theirs, paths) => {
    expect(plan(base, ours, theirs)).toEqual({ kind: 'conflict', paths });
  });
});
