import type { DeskChange, DeskFile, GitDesk } from './git-desk.ts';

export const KINDS = [
  'independent',
  'stacked',
  'rename',
  'rename and edit',
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

const text = (content: string): DeskFile => ({ mode: '100644', content });
const MEMBERS = [1, 2, 3, 4] as const;
/** Far enough apart that a merge by lines has nothing to disagree about. */
const lines = (edited: number | null, eol = '\n', mark = 'edited'): string =>
  Array.from({ length: 60 }, (_, at) =>
    edited !== null && at === edited * 12 ? `${mark} ${edited}` : `line ${at}`,
  )
    .map((line) => `${line}${eol}`)
    .join('');
const BYTES = (seed: number): Buffer =>
  Buffer.from(Array.from({ length: 300 }, (_, at) => (at * seed * 7 + seed) % 256));
const COMMIT = (n: number): string => String(n).repeat(40).slice(0, 40);
const ODD = [
  'tab\there.txt',
  'quote"back\\slash.txt',
  ' leading and trailing ',
  'größe-日本-😀.txt',
  '-dash',
  'new\nline',
] as const;

/** Files that the base of a cell starts with, beside the gate. */
export function baseFiles(kind: Kind): DeskChange {
  const files: Record<string, DeskFile> = { 'README.md': text('# app\n'), 'shared.txt': text(lines(null)) };
  for (const n of MEMBERS) {
    if (kind === 'rename' || kind === 'rename and edit')
      files[`old/f${n}.txt`] = text(lines(null, '\n', `${n}`) + n);
    if (kind === 'delete and modify') files[`f${Math.ceil(n / 2)}.txt`] = text(lines(null));
    if (kind === 'mode change') files[`run${Math.ceil(n / 2)}.sh`] = text(lines(null));
    if (kind === 'symlink') files[`link${n}`] = { mode: '120000', content: `target-${n}` };
    if (kind === 'submodule') files[`sub${n}`] = { mode: '160000', content: COMMIT(n) };
    if (kind === 'binary') files[`blob${n}.bin`] = { mode: '100644', content: BYTES(n) };
    if (kind === 'empty file') files[`full${n}.txt`] = text(`full ${n}\n`);
  }
  if (kind === 'CRLF') files['dos.txt'] = text(lines(null, '\r\n'));
  if (kind === 'odd names') for (const name of ODD) files[`odd/${name}`] = text(lines(null));
  return files;
}

/** Commits of member `n` (from 1), oldest first, as changes one on top of the other. */
function commitsOf(kind: Kind, n: number): readonly DeskChange[] {
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
    case 'no-op':
      // The first is honest work, the others end where they began.
      return n === 1
        ? [{ 'src/p1.txt': text('1\n') }]
        : n % 2 === 0
          ? [{ [`src/p${n}.txt`]: text('x\n') }, { [`src/p${n}.txt`]: null }]
          : [{}];
  }
}

/** Heads of a cell's pull requests, in order. */
export async function makeHeads(desk: GitDesk, cell: Cell, base: string): Promise<readonly string[]> {
  const commits: { parent: string | number; change: DeskChange; message: string }[] = [];
  const heads: number[] = [];
  for (let n = 1; n <= cell.size; n += 1) {
    let parent: string | number = cell.kind === 'stacked' ? (heads.at(-1) ?? base) : base;
    for (const change of commitsOf(cell.kind, n)) {
      commits.push({ parent, change, message: `member ${n}, commit ${commits.length}` });
      parent = commits.length - 1;
    }
    heads.push(commits.length - 1);
  }
  const ids = await desk.commitAll(commits);
  return heads.map((at) => ids[at] ?? '');
}
