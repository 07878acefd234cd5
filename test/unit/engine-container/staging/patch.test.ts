import { randomBytes } from 'node:crypto';
import { computeAtHand, hashBlob } from '../../../../engine-container/src/staging/objects.ts';
import { quoteName, renderPatch } from '../../../../engine-container/src/staging/patch.ts';
import type { PathChange } from '../../../../engine-container/src/staging/path-change.ts';
import { diffTrees } from '../../../../engine-container/src/staging/tree-walk.ts';
import { MemoryObjects } from '../../../merges/trees.ts';

const ONE = '1'.repeat(40);
const TWO = '2'.repeat(40);
const NONE = '0'.repeat(40);

function file(id: string, mode = '100644') {
  return { mode, id };
}

describe('renderPatch', () => {
  test.each<[name: string, change: PathChange, lines: readonly string[]]>([
    [
      'modifies',
      { path: 'f', from: file(ONE), to: file(TWO) },
      ['diff --git a/f b/f', `index ${ONE}..${TWO} 100644`, 'Binary files a/f and b/f differ'],
    ],
    [
      'adds',
      { path: 'd/f', from: null, to: file(TWO, '120000') },
      [
        'diff --git a/d/f b/d/f',
        'new file mode 120000',
        `index ${NONE}..${TWO}`,
        'Binary files /dev/null and b/d/f differ',
      ],
    ],
    [
      'deletes',
      { path: 'f', from: file(ONE), to: null },
      [
        'diff --git a/f b/f',
        'deleted file mode 100644',
        `index ${ONE}..${NONE}`,
        'Binary files a/f and /dev/null differ',
      ],
    ],
    [
      'changes a mode alone',
      { path: 'f', from: file(ONE), to: file(ONE, '100755') },
      ['diff --git a/f b/f', 'old mode 100644', 'new mode 100755'],
    ],
    [
      'changes mode and content',
      { path: 'f', from: file(ONE), to: file(TWO, '100755') },
      [
        'diff --git a/f b/f',
        'old mode 100644',
        'new mode 100755',
        `index ${ONE}..${TWO}`,
        'Binary files a/f and b/f differ',
      ],
    ],
    [
      'moves a submodule by a hunk',
      { path: 's', from: file(ONE, '160000'), to: file(TWO, '160000') },
      [
        'diff --git a/s b/s',
        `index ${ONE}..${TWO} 160000`,
        '--- a/s',
        '+++ b/s',
        '@@ -1 +1 @@',
        `-Subproject commit ${ONE}`,
        `+Subproject commit ${TWO}`,
      ],
    ],
    [
      'changes a type by removing and creating',
      { path: 'f', from: file(ONE), to: file(TWO, '160000') },
      [
        'diff --git a/f b/f',
        'deleted file mode 100644',
        `index ${ONE}..${NONE}`,
        'Binary files a/f and /dev/null differ',
        'diff --git a/f b/f',
        'new file mode 160000',
        `index ${NONE}..${TWO}`,
        '--- /dev/null',
        '+++ b/f',
        '@@ -0,0 +1 @@',
        `+Subproject commit ${TWO}`,
      ],
    ],
  ])('%s', async (_, change, lines) => {
    expect(await renderPatch([change])).toBe(`${lines.join('\n')}\n`);
  });

  test('deletes before it creates, so that a directory can take the place of a file', async () => {
    const patch = await renderPatch([
      { path: 'a/b', from: null, to: file(TWO) },
      { path: 'z', from: file(ONE), to: null },
    ]);
    expect(patch.indexOf('a/z')).toBeLessThan(patch.indexOf('a/a/b'));
  });

  test('writes the absent id as long as the other', async () => {
    const long = '3'.repeat(64);
    expect(await renderPatch([{ path: 'f', from: null, to: file(long) }])).toContain(
      `index ${'0'.repeat(64)}..${long}\n`,
    );
  });

  test('is empty for no change', async () => {
    expect(await renderPatch([])).toBe('');
  });
});

test.each([
  ['plain/name-1.ts', 'plain/name-1.ts'],
  ['two words', '"two words"'],
  ['tab\there', '"tab\\there"'],
  ['line\nbreak', '"line\\nbreak"'],
  ['a"quote', '"a\\"quote"'],
  ['back\\slash', '"back\\\\slash"'],
  ['bell\x07esc\x1bdel\x7f', '"bell\\aesc\\033del\\177"'],
  ['grüße', '"gr\\303\\274\\303\\237e"'],
])('quoteName(%j)', (name, quoted) => {
  expect(quoteName(name)).toBe(quoted);
});

describe('contents that the forge does not have', () => {
  const change = { path: 'f', from: file(ONE), to: file(TWO) };

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['less than a line', Buffer.from('short\n')],
    ['many lines of bytes', Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919) % 251))],
  ])('%s, as a literal that unpacks to it', async (_, content) => {
    const patch = await renderPatch([change], (id) => (id === TWO ? content : undefined));
    const lines = patch.split('\n');
    expect(lines.slice(0, 4)).toEqual([
      'diff --git a/f b/f',
      `index ${ONE}..${TWO} 100644`,
      'GIT binary patch',
      `literal ${content.length}`,
    ]);
    expect(lines.slice(-2)).toEqual(['', '']);
    expect(lines.slice(4, -2).every((line) => line.length <= 66 && line.length % 5 === 1)).toBe(true);
  });

  test('and no contents where the forge has them', async () => {
    expect(await renderPatch([change])).not.toContain('literal');
  });
});

test('diffTrees names what differs, in order, and nothing else', () => {
  const objects = new MemoryObjects();
  const regular = (content: string, mode = '100644') => ({ mode, content });
  const from = objects.putTree(
    new Map([
      ['kept/f', regular('1')],
      ['gone/f', regular('1')],
      ['mode', regular('1')],
    ]),
  );
  const to = objects.putTree(
    new Map([
      ['kept/f', regular('1')],
      ['mode', regular('1', '100755')],
      ['new', regular('2')],
    ]),
  );
  const [one, two] = ['1', '2'].map((content) => hashBlob(Buffer.from(content), 'sha1'));
  const { changes, removedDirectories } = computeAtHand(diffTrees(objects, from, to));
  expect(changes).toMatchObject([
    { path: 'gone/f', from: { mode: '100644', id: one }, to: null },
    { path: 'mode', from: { mode: '100644', id: one }, to: { mode: '100755', id: one } },
    { path: 'new', from: null, to: { mode: '100644', id: two } },
  ]);
  expect([...removedDirectories]).toEqual(['gone']);
  expect(computeAtHand(diffTrees(objects, from, from)).changes).toEqual([]);
});

test('contents of a merge are written in one piece, however long they are', async () => {
  const alloc = jest.spyOn(Buffer, 'alloc');
  const piecesOf = async (bytes: number): Promise<number> => {
    const content = randomBytes(bytes);
    alloc.mockClear();
    await renderPatch([{ path: 'f', from: file(ONE), to: file(TWO) }], () => content);
    return alloc.mock.calls.length;
  };
  expect(await piecesOf(10_000)).toBe(await piecesOf(10));
  alloc.mockRestore();
});

test.each([
  ['many files', 40, 200 * 1024],
  ['one long file', 1, 4 * 1024 * 1024],
])('contents of a merge are written in turns: %s', async (_, files, bytes) => {
  const content = randomBytes(bytes);
  const changes = Array.from({ length: files }, (_, at) => ({ path: `f${at}`, from: null, to: file(TWO) }));
  let turns = 0;
  let isOver = false;
  const others = (): void => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  await renderPatch(changes, () => content);
  isOver = true;
  expect(turns).toBeGreaterThan(files / 5 + 1);
});
