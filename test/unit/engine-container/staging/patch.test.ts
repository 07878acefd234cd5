import { quoteName, renderPatch } from '../../../../engine-container/src/staging/patch.ts';
import type { PathChange } from '../../../../engine-container/src/staging/path-change.ts';
import { diffTrees } from '../../../../engine-container/src/staging/tree-diff.ts';

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
  ])('%s', (_, change, lines) => {
    expect(renderPatch([change])).toBe(`${lines.join('\n')}\n`);
  });

  test('deletes before it creates, so that a directory can take the place of a file', () => {
    const patch = renderPatch([
      { path: 'a/b', from: null, to: file(TWO) },
      { path: 'z', from: file(ONE), to: null },
    ]);
    expect(patch.indexOf('a/z')).toBeLessThan(patch.indexOf('a/a/b'));
  });

  test('writes the absent id as long as the other', () => {
    const long = '3'.repeat(64);
    expect(renderPatch([{ path: 'f', from: null, to: file(long) }])).toContain(
      `index ${'0'.repeat(64)}..${long}\n`,
    );
  });

  test('is empty for no change', () => {
    expect(renderPatch([])).toBe('');
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

test('diffTrees names what differs, in order, and nothing else', () => {
  const from = [
    { path: 'kept', ...file(ONE) },
    { path: 'gone', ...file(ONE) },
    { path: 'mode', ...file(ONE) },
  ];
  const to = [
    { path: 'new', ...file(TWO) },
    { path: 'mode', ...file(ONE, '100755') },
    { path: 'kept', ...file(ONE) },
  ];
  expect(diffTrees(from, to)).toEqual([
    { path: 'gone', from: file(ONE), to: null },
    { path: 'mode', from: file(ONE), to: file(ONE, '100755') },
    { path: 'new', from: null, to: file(TWO) },
  ]);
  expect(diffTrees(from, from)).toEqual([]);
});
