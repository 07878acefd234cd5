import { type Cell, commitsOf, FEATURE, lines, text } from './cells.ts';
import type { DeskChange, DeskCommit, GitDesk } from './git-desk.ts';

export interface CellHistory {
  /** Where the base stands when the pull requests are opened. */
  readonly base: string;
  /** Heads of the pull requests, in order. */
  readonly heads: readonly string[];
}

/** The history of a cell on top of its first commit. */
export async function makeHistory(desk: GitDesk, cell: Cell, base: string): Promise<CellHistory> {
  switch (cell.kind) {
    case 'criss-cross':
      return makeCrissCross(desk, cell, base);
    case 'taken back before':
      return makeTakenBack(desk, cell, base);
    case 'two lines of its own':
      return { base, heads: await makeTwoLines(desk, cell, base) };
    case 'edit in a merge':
      return makeEditedMerge(desk, cell, base);
    case 'same lines elsewhere':
    case 'white space alone':
    case 'link for a file':
    case 'rule of merging':
    case 'submodule passed over':
      return makeLikeTheBase(desk, cell, base);
    case 'history of another':
      return makeImported(desk, cell, base);
    case 'stacked behind the base':
      return makeStackedBehind(desk, cell, base);
    default:
      return { base, heads: await makeHeads(desk, cell, base) };
  }
}

/** The base has made the change of each but the first, and reverted it. */
async function makeTakenBack(desk: GitDesk, cell: Cell, first: string): Promise<CellHistory> {
  const heads = await makeHeads(desk, cell, first);
  const ids = await desk.commitAll([
    { parent: first, change: { 'base.txt': text('base\n') }, message: 'base' },
    { parent: 0, change: FEATURE, message: 'the feature' },
    { parent: 1, change: { 'shared.txt': text(lines(null)) }, message: 'revert of the feature' },
  ]);
  return { base: ids[2] ?? '', heads };
}

/** Each but the first has two lines, made in turn, of which it matters which one is replayed first. */
async function makeTwoLines(desk: GitDesk, cell: Cell, first: string): Promise<readonly string[]> {
  const [plain = ''] = await makeHeads(desk, { ...cell, size: 1 }, first);
  const heads = [plain];
  for (let n = 2; n <= cell.size; n += 1) {
    const [there, back] = [{ 'shared.txt': text(lines(n)) }, { 'shared.txt': text(lines(null)) }];
    const ids = await desk.commitAll([
      { parent: first, change: there, message: `${n} there` },
      { parent: first, change: there, message: `${n} there too` },
      { parent: 0, change: back, message: `${n} back` },
      { parent: 1, change: { [`src/p${n}.txt`]: text(`${n}\n`) }, message: `${n} more` },
      { parent: 2, merged: 3, change: { ...there, [`src/p${n}.txt`]: text(`${n}\n`) }, message: `${n} both` },
    ]);
    heads.push(ids[4] ?? '');
  }
  return heads;
}

/** Each has merged the base, and its author changed something in the merge. */
async function makeEditedMerge(desk: GitDesk, cell: Cell, first: string): Promise<CellHistory> {
  const own = await makeHeads(desk, cell, first);
  const [base = ''] = await desk.commitAll([
    { parent: first, change: { 'base.txt': text('base\n') }, message: 'base' },
  ]);
  const merges = own.map((head, at) => ({
    parent: head,
    merged: base,
    change: { 'base.txt': text('base\n'), [`src/edited${at}.txt`]: text('in the merge\n') },
    message: 'base into it',
  }));
  return { base, heads: await desk.commitAll(merges) };
}

/**
 * Two lines of work that were merged into each other: one is the base now. The first pull request stands on the base, the
 * others on the other line.
 */
async function makeCrissCross(desk: GitDesk, cell: Cell, first: string): Promise<CellHistory> {
  const here = { 'cross.txt': text(lines(1)) };
  const there = { 'other.txt': text(lines(2)) };
  const both = { ...here, ...there };
  const commits: DeskCommit[] = [
    { parent: first, change: here, message: 'here' },
    { parent: first, change: there, message: 'there' },
    { parent: 0, merged: 1, change: both, message: 'here with there' },
    { parent: 1, merged: 0, change: both, message: 'there with here' },
  ];
  for (let n = 1; n <= cell.size; n += 1) {
    const [change = {}] = commitsOf(cell.kind, n);
    commits.push({ parent: n === 1 ? 2 : 3, change, message: `member ${n}` });
  }
  const ids = await desk.commitAll(commits);
  return { base: ids[2] ?? '', heads: ids.slice(4) };
}

async function makeHeads(desk: GitDesk, cell: Cell, base: string): Promise<readonly string[]> {
  const commits: DeskCommit[] = [];
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

/** Steps of a file: what the base does with it, and what all but the first do. To `git rebase` one of each is the same. */
interface LikeTheBase {
  readonly begin: DeskChange;
  readonly base: readonly DeskChange[];
  readonly own: (n: number) => DeskChange;
}

const job = (name: string, extra = ''): string =>
  `job ${name}\n  steps:\n  - one\n  - two\n  - three\n${extra}  - four\n  - five\n  - six\n  end\n\n`;
const jobs = (...limited: readonly string[]): string =>
  ['a', 'b', 'c', 'd', 'e'].map((name) => job(name, limited.includes(name) ? '  - limit\n' : '')).join('');
const indented = (indent: string, word: string): string =>
  `begin\n  one\n  two\n${indent}${word}\n  three\n  four\nend\n`;
const locked = (above: string, below: string): string =>
  `begin\n${above}\n1\n2\n3\n4\n5\n6\n7\n8\n${below}\nend\n`;

function likeTheBase(kind: Cell['kind']): LikeTheBase {
  const lock = (above: string, below: string): DeskChange => ({ 'all.lock': text(locked(above, below)) });
  switch (kind) {
    case 'same lines elsewhere':
      return {
        begin: { 'jobs.txt': text(jobs()) },
        base: [{ 'jobs.txt': text(jobs('a')) }],
        own: (n) => ({ 'jobs.txt': text(jobs('abcde'[n] ?? '')) }),
      };
    case 'white space alone':
      return {
        begin: { 'code.txt': text(indented('  ', 'plain')) },
        base: [{ 'code.txt': text(indented('\t', 'other')) }, { 'code.txt': text(indented('  ', 'plain')) }],
        own: (n) => ({ 'code.txt': text(indented(' '.repeat(2 * n), 'other')) }),
      };
    case 'link for a file':
      return {
        begin: { 'run.sh': text('echo\n') },
        base: [{ 'run.sh': { mode: '120000', content: 'other.sh' } }, { 'run.sh': text('echo\n') }],
        own: () => ({ 'run.sh': { mode: '120000', content: 'other.sh' } }),
      };
    case 'submodule passed over': {
      const names = ['base', 'own2', 'own3', 'own4'];
      const rules = names.map((name) => `[submodule "${name}"]\n\tpath = ${name}\n\tignore = all\n`).join('');
      const at = (name: string, digit: string): DeskChange => ({
        [name]: { mode: '160000', content: digit.repeat(40) },
      });
      const begin = Object.assign({ '.gitmodules': text(rules) }, ...names.map((name) => at(name, '1')));
      return { begin, base: [at('base', '2')], own: (n) => at(`own${n}`, '2') };
    }
    default:
      return {
        begin: { ...lock('above', 'below'), '.gitattributes': text('*.lock merge=ours\n') },
        base: [lock('ABOVE', 'below'), lock('ABOVE', 'BELOW'), lock('above', 'below')],
        own: () => lock('above', 'BELOW'),
      };
  }
}

async function makeLikeTheBase(desk: GitDesk, cell: Cell, first: string): Promise<CellHistory> {
  const { begin, base, own } = likeTheBase(cell.kind);
  const commits: DeskCommit[] = [{ parent: first, change: begin, message: 'begin' }];
  for (const change of base) commits.push({ parent: commits.length - 1, change, message: 'of the base' });
  const tip = commits.length - 1;
  const heads: number[] = [];
  for (let n = 1; n <= cell.size; n += 1) {
    const more = { [`src/p${n}.txt`]: text(`${n}\n`) };
    if (n > 1) commits.push({ parent: 0, change: own(n), message: `${n} as the base did` });
    commits.push({ parent: n > 1 ? commits.length - 1 : 0, change: more, message: `${n} more` });
    heads.push(commits.length - 1);
  }
  const ids = await desk.commitAll(commits);
  return { base: ids[tip] ?? '', heads: heads.map((at) => ids[at] ?? '') };
}

/** Each but the first has merged a history that shares nothing with the base; the base has moved on. */
async function makeImported(desk: GitDesk, cell: Cell, first: string): Promise<CellHistory> {
  const own = await makeHeads(desk, cell, first);
  const commits: DeskCommit[] = [
    { parent: first, change: { 'base.txt': text('base\n') }, message: 'base' },
    { parent: null, change: { 'lib/lib.txt': text('lib\n') }, message: 'first commit of the library' },
  ];
  for (const head of own.slice(1)) {
    commits.push({
      parent: head,
      merged: 1,
      change: { 'lib/lib.txt': text('lib\n') },
      message: 'the library',
    });
  }
  const ids = await desk.commitAll(commits);
  return { base: ids[0] ?? '', heads: [own[0] ?? '', ...ids.slice(2)] };
}

/**
 * The first adds a file beside an edit and removes the file again; the others stand on it. The base has changed a line beside
 * that edit, so that the rebased edit is another patch and is replayed, and the removal is the same one and is left out.
 */
async function makeStackedBehind(desk: GitDesk, cell: Cell, first: string): Promise<CellHistory> {
  const pair = (one: string, other: string): DeskChange => ({
    'pair.txt': text(`1\n2\n3\n${one}\n5\n${other}\n7\n8\n9\n`),
  });
  const commits: DeskCommit[] = [
    { parent: first, change: pair('4', '6'), message: 'begin' },
    { parent: 0, change: pair('four', '6'), message: 'base' },
    {
      parent: 0,
      change: { ...pair('4', 'six'), 'draft.txt': text('draft\n') },
      message: 'an edit and a file',
    },
    { parent: 2, change: { 'draft.txt': null }, message: 'without the file' },
  ];
  for (let n = 2; n <= cell.size; n += 1)
    commits.push({
      parent: commits.length - 1,
      change: { [`src/p${n}.txt`]: text(`${n}\n`) },
      message: `${n}`,
    });
  const ids = await desk.commitAll(commits);
  return { base: ids[1] ?? '', heads: ids.slice(3) };
}
