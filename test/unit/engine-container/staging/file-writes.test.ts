import { readFiles } from '../../../../engine-container/src/staging/file-writes.ts';
import {
  computeAtHand,
  hashBlob,
  type ObjectView,
} from '../../../../engine-container/src/staging/objects.ts';
import type { FileVersion, PathChange } from '../../../../engine-container/src/staging/path-change.ts';
import { MemoryObjects } from '../../../merges/trees.ts';

const FILE = '100644';
const objects = new MemoryObjects();

function version(content: string, mode = FILE): FileVersion {
  const bytes = Buffer.from(content);
  const id = hashBlob(bytes, 'sha1');
  objects.putBlob(id, bytes);
  return { mode, id, size: bytes.length };
}

function treeWith(attributes: string | null) {
  const file = { mode: FILE, content: 'x' };
  const rules =
    attributes === null ? [] : ([['.gitattributes', { mode: FILE, content: attributes }]] as const);
  return objects.putTree(new Map([['src/a.txt', file], ...rules]));
}

function filesOf(changes: readonly PathChange[], attributes: string | null = null) {
  return computeAtHand(readFiles(objects, treeWith(attributes), changes));
}

const change = (path: string, from: FileVersion | null, to: FileVersion | null): PathChange => ({
  path,
  from,
  to,
});

test('new, changed and removed files, with what they replace', () => {
  const [old, script] = [version('old'), version('echo', '100755')];
  const files = filesOf([
    change('src/new.txt', null, version('new')),
    change('src/a.txt', old, version('')),
    change('x.sh', script, version('echo 2', '100755')),
    change('gone.txt', old, null),
  ]);
  expect(files?.map(({ content, ...file }) => ({ ...file, content: content?.toString() }))).toEqual([
    { path: 'src/new.txt', content: 'new', replaces: null },
    { path: 'src/a.txt', content: '', replaces: old.id },
    { path: 'x.sh', content: 'echo 2', replaces: script.id },
    { path: 'gone.txt', content: undefined, replaces: old.id },
  ]);
});

test.each<[string, PathChange]>([
  ['a new executable', change('x.sh', null, version('x', '100755'))],
  ['a changed mode', change('x.sh', version('x'), version('x', '100755'))],
  ['a link', change('link', null, version('src', '120000'))],
  ['a link that goes', change('link', version('src', '120000'), null)],
  ['a submodule', change('lib', null, { mode: '160000', id: 'a'.repeat(40) })],
  ['a name that git takes for a pattern', change('a*.txt', null, version('x'))],
  ['a name that older forges take for an option', change('-a', null, version('x'))],
  ['a name with a magic word', change(':(top)a', null, version('x'))],
  ['a name that JSON escapes', change('a\u0001', null, version('x'))],
  ['a name inside of .git', change('a/.GIT/b', null, version('x'))],
  ['a path of more than 500 characters', change(`${'d/'.repeat(250)}f`, null, version('x'))],
  ['rules of git', change('src/.gitattributes', null, version('x'))],
])('%s is sent as a patch', (_name, one) => {
  expect(filesOf([one])).toBeNull();
});

test('a file in the place of a folder is sent as a patch', () => {
  const changes = [change('a', null, version('x')), change('a/b', version('y'), null)];
  expect(filesOf(changes)).toBeNull();
});

test.each([
  ['*.bin filter=lfs', 'a.bin', false],
  ['*.bin filter=lfs', 'a.txt', true],
  ['*.bin -filter', 'a.bin', true],
  ['[attr]big filter=lfs\n*.bin big', 'a.bin', false],
  ['*.bin text', 'a.bin', true],
])('under the rules %j %s may be sent whole: %s', (attributes, path, may) => {
  const files = filesOf([change(path, null, version('x'))], attributes);
  expect(files !== null).toBe(may);
});

test('a path of 500 characters is sent whole', () => {
  expect(filesOf([change(`${'d/'.repeat(249)}fi`, null, version('x'))])).not.toBeNull();
});

test('a removed file is under no filter', () => {
  expect(filesOf([change('a.bin', version('x'), null)], '*.bin filter=lfs')).not.toBeNull();
});

test('what is large is sent as a patch: many files, many bytes, and contents that the forge keeps back', () => {
  const one = version('x');
  const many = (count: number) => Array.from({ length: count }, (_, at) => change(`f${at}`, null, one));
  expect(filesOf(many(50))).toHaveLength(50);
  expect(filesOf(many(51))).toBeNull();
  const half = version('y'.repeat(350 * 1024));
  expect(filesOf([change('a', null, half), change('b', null, half)])).toHaveLength(2);
  expect(filesOf([change('a', null, half), change('b', null, half), change('c', null, one)])).toBeNull();
  // The tree lists a wrong size.
  const liar = { ...version('z'.repeat(700 * 1024 + 1)), size: 1 };
  expect(filesOf([change('a', null, liar)])).toBeNull();
  const view: ObjectView = {
    directory: (id) => objects.directory(id),
    blob: () => 'withheld',
    putDirectory: () => undefined,
    putBlob: () => undefined,
  };
  expect(computeAtHand(readFiles(view, treeWith(null), [change('a', null, one)]))).toBeNull();
});
