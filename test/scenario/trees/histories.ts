import { type Cell, commitsOf, FEATURE, lines, text } from './cells.ts';
import type { DeskCommit, GitDesk } from './git-desk.ts';

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
