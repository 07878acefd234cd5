import type { DeskChange, DeskFile } from './git-desk.ts';

/** What a rebase makes of these depends on the forge and its version. */
export const OF_REBASE = [
  'taken back before',
  'two lines of its own',
  'edit in a merge',
  'same lines elsewhere',
  'white space alone',
  'link for a file',
  'rule of merging',
  'submodule passed over',
  'history of another',
  'stacked behind the base',
  'converted file',
] as const;

export const KINDS = [
  'independent',
  'stacked',
  'rename',
  'rename and edit',
  'rename of a directory',
  'rename both at once',
  'rename against rename',
  'two-sided contents',
  'criss-cross',
  'name that is not UTF-8',
  'delete and modify',
  'mode change',
  'symlink',
  'submodule',
  'CRLF',
  'binary',
  'empty file',
  'odd names',
  'revert inside',
  'no-op',
  ...OF_REBASE,
] as const;
export type Kind = (typeof KINDS)[number];

export const STYLES = ['merge', 'squash', 'rebase'] as const;
export type Style = (typeof STYLES)[number];

export interface Cell {
  readonly kind: Kind;
  readonly style: Style;
  readonly size: number;
}

export const CELLS: readonly Cell[] = KINDS.flatMap((kind) =>
  STYLES.flatMap((style) => [1, 2, 3, 4].map((size) => ({ kind, style, size }))),
);

export const text = (content: string): DeskFile => ({ mode: '100644', content });
const MEMBERS = [1, 2, 3, 4] as const;
/** Far enough apart that a merge by lines has nothing to disagree about. */
export const lines = (edited: number | null, eol = '\n', mark = 'edited'): string =>
  Array.from({ length: 60 }, (_, at) =>
    edited !== null && at === edited * 12 ? `${mark} ${edited}` : `line ${at}`,
  )
    .map((line) => `${line}${eol}`)
    .join('');
const BYTES = (seed: number): Buffer =>
  Buffer.from(Array.from({ length: 300 }, (_, at) => (at * seed * 7 + seed) % 256));
const COMMIT = (n: number): string => String(n).repeat(40).slice(0, 40);
/** One byte that is not UTF-8, as `git-desk.ts` writes it. */
const NOT_UTF8 = '\udcff';
const ODD = [
  'tab\there.txt',
  'quote"back\\slash.txt',
  ' leading and trailing ',
  'größe-日本-😀.txt',
  '-dash',
  'new\nline',
] as const;

const functionOf = (name: string): string =>
  [
    `func ${name}() error {`,
    '\tif err := check(); err != nil {',
    '\t\treturn err',
    '\t}',
    '\treturn nil',
    '}',
    '',
    '',
  ].join('\n');
const FUNCTIONS = ['load', 'store', 'parse', 'render', 'close'].map(functionOf);

/** Of several, and of the base before it was taken back there. */
export const FEATURE: DeskChange = { 'shared.txt': text(lines(1)) };

/** How a member of a cell has to end where the forge merges as git does; undefined: landed, or held with words. */
export function mustEnd({ kind, style }: Cell, n: number): 'landed' | RegExp | undefined {
  switch (kind) {
    case 'rename and edit':
    case 'rename of a directory':
    case 'rename both at once':
    case 'mode change':
      return 'landed';
    case 'rename against rename':
      return n === 4 ? /^refused: conflicts with the base/ : 'landed';
    case 'criss-cross':
      // A rebase replays commit by commit and asks for no merge base.
      return n === 1 || style === 'rebase' ? 'landed' : /^refused: .*two merge bases/;
    case 'taken back before':
      return n === 1 || style !== 'rebase' ? 'landed' : /^refused: the base had one of its commits before/;
    case 'two lines of its own':
      return 'landed';
    case 'edit in a merge':
      return style === 'rebase' ? /^refused: a rebase drops the merge commits/ : 'landed';
    // Of two that import one history the second has two merge bases, once the first has landed with it.
    case 'history of another':
      if (style === 'merge' && n > 2) return undefined;
      return n === 1 || style !== 'rebase' ? 'landed' : /^refused: a rebase drops the merge commits/;
    case 'white space alone':
      // Two that change one line conflict with each other.
      if (style !== 'rebase' && n > 2) return undefined;
      return n === 1 || style !== 'rebase' ? 'landed' : /^refused: the base had one of its commits before/;
    case 'same lines elsewhere':
    case 'link for a file':
    case 'rule of merging':
    case 'submodule passed over':
    case 'stacked behind the base':
      return n === 1 || style !== 'rebase' ? 'landed' : /^refused: the base had one of its commits before/;
    case 'converted file':
      return n === 1 || style !== 'rebase' ? 'landed' : CONVERTED;
    case 'name that is not UTF-8':
      return n % 2 === 0 ? /^refused: a file name in this change is not UTF-8/ : 'landed';
    default:
      return undefined;
  }
}

/** The first lands before it, so that no forge may leave it as it is. */
const CONVERTED = /^refused: git converts a file that differs/;

/** Files that the base of a cell starts with, beside the gate. */
export function baseFiles(kind: Kind): DeskChange {
  const files: Record<string, DeskFile> = { 'README.md': text('# app\n'), 'shared.txt': text(lines(null)) };
  for (const n of MEMBERS) {
    if (kind === 'rename' || kind === 'rename and edit')
      files[`old/f${n}.txt`] = text(lines(null, '\n', `${n}`) + n);
    if (kind === 'rename of a directory' || kind === 'rename both at once') {
      for (const name of ['one', 'two', 'three']) {
        files[`dir${Math.ceil(n / 2)}/${name}.txt`] = text(lines(null, '\n', `${n}`) + name + n);
      }
    }
    if (kind === 'rename against rename') files[`old/f${Math.ceil(n / 2)}.txt`] = text(lines(null) + n);
    if (kind === 'delete and modify') files[`f${Math.ceil(n / 2)}.txt`] = text(lines(null));
    if (kind === 'mode change') files[`run${Math.ceil(n / 2)}.sh`] = text(lines(null));
    if (kind === 'symlink') files[`link${n}`] = { mode: '120000', content: `target-${n}` };
    if (kind === 'submodule') files[`sub${n}`] = { mode: '160000', content: COMMIT(n) };
    if (kind === 'binary') files[`blob${n}.bin`] = { mode: '100644', content: BYTES(n) };
    if (kind === 'empty file') files[`full${n}.txt`] = text(`full ${n}\n`);
  }
  if (kind === 'two-sided contents') files['main.go'] = text(FUNCTIONS.join(''));
  if (kind === 'name that is not UTF-8') files[`elsewhere/${NOT_UTF8}.txt`] = text('old\n');
  if (kind === 'converted file') {
    files['.gitattributes'] = text('*.dos text\n');
    files['app.dos'] = text(lines(null, '\r\n'));
  }
  if (kind === 'CRLF') files['dos.txt'] = text(lines(null, '\r\n'));
  if (kind === 'odd names') for (const name of ODD) files[`odd/${name}`] = text(lines(null));
  return files;
}

/** Commits of member `n` (from 1), oldest first, as changes one on top of the other. */
export function commitsOf(kind: Kind, n: number): readonly DeskChange[] {
  const pair = Math.ceil(n / 2);
  const isSecond = n % 2 === 0;
  switch (kind) {
    case 'independent':
      return [{ [`src/p${n}.txt`]: text(`${n}\n`), 'shared.txt': text(lines(n)) }];
    case 'stacked':
      return [{ [`src/p${n}.txt`]: text(`${n}\n`), 'stack.txt': text(lines(n)) }];
    case 'rename':
      return [{ [`old/f${n}.txt`]: null, [`new/g${n}.txt`]: text(lines(null, '\n', `${n}`) + n) }];
    case 'rename and edit':
      // The first of a pair moves the file, the second edits it where it was.
      return isSecond
        ? [{ [`old/f${n - 1}.txt`]: text(lines(2, '\n', 'edited by the other') + (n - 1)) }]
        : [{ [`old/f${n}.txt`]: null, [`new/g${n}.txt`]: text(`${lines(null, '\n', `${n}`)}${n}`) }];
    case 'rename of a directory': {
      // The first of a pair moves the directory, the second edits two of its files where they were.
      const names = ['one', 'two', 'three'];
      const old = (name: string) => lines(null, '\n', `${2 * pair}`) + name + 2 * pair;
      const edited = (name: string) => old(name).replace('line 7\n', `line 7, by ${n}\n`);
      if (isSecond) {
        return [
          Object.fromEntries(names.slice(1).map((name) => [`dir${pair}/${name}.txt`, text(edited(name))])),
        ];
      }
      return [
        Object.fromEntries(
          names.flatMap((name) => [
            [`dir${pair}/${name}.txt`, null],
            [`moved${pair}/${name}.txt`, text(old(name))],
          ]),
        ),
      ];
    }
    case 'rename both at once': {
      const old = (name: string) => lines(null, '\n', `${2 * pair}`) + name + 2 * pair;
      const names = ['one', 'two', 'three'];
      // The first moves the directory and edits a file of it; the second edits that file elsewhere, and the two others.
      if (isSecond) {
        return [
          Object.fromEntries(
            names.map((name) => [
              `dir${pair}/${name}.txt`,
              text(old(name).replace('line 40\n', `line 40, by ${n}\n`)),
            ]),
          ),
        ];
      }
      return [
        Object.fromEntries(
          names.flatMap((name) => [
            [`dir${pair}/${name}.txt`, null],
            [
              `moved${pair}/deep/${name}.txt`,
              text(name === 'one' ? old(name).replace('line 7\n', 'line seven\n') : old(name)),
            ],
          ]),
        ),
      ];
    }
    case 'rename against rename': {
      // Both move one file: the first pair to one place, each with an edit of its own, the second to two places.
      const old = lines(null) + 2 * pair;
      const place = pair === 1 ? 'new/both.txt' : `new/by${n}.txt`;
      const at = isSecond ? 'line 40\n' : 'line 7\n';
      return [{ [`old/f${pair}.txt`]: null, [place]: text(old.replace(at, `by ${n}\n`)) }];
    }
    case 'two-sided contents':
      // Each adds a function of its own and changes one, among lines that are all alike.
      return [
        {
          'main.go': text(
            [...FUNCTIONS.slice(0, n), functionOf(`added${n}`), ...FUNCTIONS.slice(n)].join(''),
          ),
        },
      ];
    case 'criss-cross':
      return [{ [`src/p${n}.txt`]: text(`${n}\n`) }];
    case 'name that is not UTF-8':
      return [{ [`src/${isSecond ? NOT_UTF8 : 'p'}${n}.txt`]: text(`${n}\n`) }];
    case 'delete and modify':
      return isSecond ? [{ [`f${pair}.txt`]: text(lines(3)) }] : [{ [`f${pair}.txt`]: null }];
    case 'mode change':
      return isSecond
        ? [{ [`run${pair}.sh`]: text(lines(2)) }]
        : [{ [`run${pair}.sh`]: { mode: '100755', content: lines(null) } }];
    case 'symlink':
      return [
        { [`link${n}`]: { mode: '120000', content: `elsewhere-${n}` } },
        { [`more/link${n}`]: { mode: '120000', content: '../README.md' }, [`src/p${n}.txt`]: text(`${n}\n`) },
      ];
    case 'submodule':
      return [
        { [`sub${n}`]: { mode: '160000', content: COMMIT(n + 4) } },
        { [`more/sub${n}`]: { mode: '160000', content: COMMIT(n) }, [`src/p${n}.txt`]: text(`${n}\n`) },
      ];
    case 'CRLF':
      return [{ 'dos.txt': text(lines(n, '\r\n')), [`src/mixed${n}.txt`]: text(`a\r\nb\nc  \r\n${n}`) }];
    case 'converted file':
      return [
        { [`src/p${n}.txt`]: text(`${n}\n`), ...(n === 1 ? {} : { 'app.dos': text(lines(n, '\r\n')) }) },
      ];
    case 'binary':
      return [
        {
          [`blob${n}.bin`]: { mode: '100644', content: BYTES(n + 10) },
          [`new${n}.bin`]: { mode: '100755', content: BYTES(n + 20) },
        },
      ];
    case 'empty file':
      return [{ [`full${n}.txt`]: text(''), [`empty/e${n}`]: text(''), [`src/p${n}.txt`]: text(`${n}\n`) }];
    case 'odd names': {
      const at = (n - 1) % ODD.length;
      return [{ [`odd/${ODD[at]}`]: text(lines(n)), [`${ODD[(at + 1) % ODD.length]}-${n}`]: text(`${n}\n`) }];
    }
    case 'revert inside':
      // The first changes a line for good; the others change the same line and take it back.
      return n === 1
        ? [{ 'shared.txt': text(lines(1)) }]
        : [
            { 'shared.txt': text(lines(1)) },
            { 'shared.txt': text(lines(null)), [`src/p${n}.txt`]: text(`${n}\n`) },
          ];
    case 'taken back before':
      return [...(n === 1 ? [] : [FEATURE]), { [`src/p${n}.txt`]: text(`${n}\n`) }];
    case 'two lines of its own':
    case 'edit in a merge':
    case 'same lines elsewhere':
    case 'white space alone':
    case 'link for a file':
    case 'rule of merging':
    case 'submodule passed over':
    case 'history of another':
    case 'stacked behind the base':
      return [{ [`src/p${n}.txt`]: text(`${n}\n`) }];
    case 'no-op':
      // The first is honest work, the others end where they began.
      return n === 1
        ? [{ 'src/p1.txt': text('1\n') }]
        : n % 2 === 0
          ? [{ [`src/p${n}.txt`]: text('x\n') }, { [`src/p${n}.txt`]: null }]
          : [{}];
  }
}
