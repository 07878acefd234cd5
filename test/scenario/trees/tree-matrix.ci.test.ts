import { CELLS, type Cell, KINDS, type Kind, mustEnd, OF_REBASE, STYLES } from './cells.ts';
import { type CellResult, DRAIN_MS_MAX, runCell } from './run-cell.ts';
import { openFakeTreeForge, openRealTreeForge, type TreeForge } from './tree-forge.ts';

// Some cells of a real forge take a minute, more beside others; this only ends a hang.
jest.setTimeout(DRAIN_MS_MAX + 120_000);

/**
 * "The staged tree is the landed tree": every shape of a change, in every native style, in batches of one to four.
 * Every landing has a receipt whose tree is what git reads at the merge commit, every commit on the base is one of
 * them, who does not land is told why, no alarm is raised, and each pull request ends once. `TREES=all` plays every
 * cell; without it one style of every kind, and all of those in which a merge that is not the staged one was once landed.
 */
const { env } = process;
const isReal = env.FORGE_URL !== undefined && env.FORGE_TOKEN !== undefined && env.FORGE_RUNNER === '1';

const KINDS_OF_REBASE: readonly Kind[] = OF_REBASE;
const isEveryCell = env.TREES === 'all';
/** The shapes of a rebase land the same way on both kinds of forge: one plays every second of them, the other one the rest. */
const isLeftToStrict = (kind: Kind): boolean => KINDS_OF_REBASE.indexOf(kind) % 2 === 1;

const played = isEveryCell
  ? CELLS
  : CELLS.filter(({ kind, style, size }) => {
      const turn = KINDS.indexOf(kind) + STYLES.indexOf(style);
      if (KINDS_OF_REBASE.includes(kind))
        return style === 'rebase' && size === 2 && (isReal || !isLeftToStrict(kind));
      const isTelling = kind === 'stacked' || kind === 'revert inside';
      return size === 2 + (turn % 2) && (turn % 20 === 1 || isTelling);
    });

/** Words that the queue may leave on one that did not land: final ones. Who still waits was forgotten. */
const REASON = /^(refused|bounced): /;

/** Shapes that git merges and a conflict check by path calls a conflict. */
const BEYOND_PATHS: readonly Kind[] = [
  'rename and edit',
  'rename of a directory',
  'rename both at once',
  'rename against rename',
  'mode change',
];

/** How a member has to end on this forge. */
function mayEnd(cell: Cell, n: number, checksByPath: boolean): RegExp | undefined {
  const wanted = mustEnd(cell, n);
  if (wanted === undefined) return undefined;
  if (checksByPath && n > 1 && BEYOND_PATHS.includes(cell.kind))
    return anyMemberOf(
      // Set aside for the conflict, it meets the files of the third and fourth on the base, which are like its own.
      cell.kind === 'rename against rename' && cell.size > 2
        ? /^landed$|^refused: (?:.*conflict|git can merge this in more than one way)/
        : /^landed$|^refused: .*conflict/,
    );
  return wanted === 'landed' ? /: landed$/ : anyMemberOf(wanted);
}

function judge(cell: Cell, result: CellResult, checksByPath: boolean): void {
  const { endings, line } = result;
  const { halted, cameToRest, alarms, endedTwice } = result;
  const rest = { halted: false, cameToRest: true, alarms: [], endedTwice: [] };
  expect({ ...cell, halted, cameToRest, alarms, endedTwice }).toEqual({ ...cell, ...rest });
  const trees = new Map(line.map((commit) => [commit.sha, commit.tree]));
  const landings: string[] = [];
  for (const [at, ending] of endings.entries()) {
    const wanted = mayEnd(cell, at + 1, checksByPath);
    if (wanted !== undefined) {
      const words = ending.kind === 'held' ? ending.words : ending.kind;
      expect(`member ${at + 1}: ${words}`).toMatch(wanted);
    }
    if (ending.kind === 'landed') {
      expect({ member: at + 1, tree: trees.get(ending.mergeCommit) }).toEqual({
        member: at + 1,
        tree: ending.receiptTree,
      });
      landings.push(ending.mergeCommit);
    } else if (ending.kind === 'held') {
      expect(ending.words).toMatch(REASON);
    }
  }
  // A rebase lands the commits of one pull request one by one; the last of them is the landing.
  const onBase = line.map((commit) => commit.sha).filter((sha) => landings.includes(sha));
  expect(onBase).toHaveLength(landings.length);
  if (cell.style !== 'rebase') expect(line).toHaveLength(landings.length);
  else expect(line.at(-1)?.sha).toBe(onBase.at(-1));
  // The first one on an unmoved base can conflict with nothing.
  if (endings[0]?.kind !== 'landed' && !(mustEnd(cell, 1) instanceof RegExp))
    throw new Error(`the first did not land: ${JSON.stringify(endings[0])}`);
}

/** A pull request that the forge calls a conflict itself cannot even be scheduled. */
function anyMemberOf(words: RegExp): RegExp {
  return new RegExp(`: (?:not schedulable$|${words.source.replaceAll('^', '')})`);
}

/** A cell on a real forge waits more than it works: `--maxConcurrency` of them are played at once. */
function describeTrees(
  name: string,
  open: () => Promise<TreeForge>,
  cells: readonly Cell[] = played,
  each: typeof test.each = test.each,
): void {
  describe(name, () => {
    let forge: TreeForge;
    beforeAll(async () => {
      forge = await open();
    });
    afterAll(() => forge.stop());
    each(cells.map((cell) => [`${cell.kind}, ${cell.style}, ${cell.size}`, cell] as const))(
      '%s',
      async (title, cell) => {
        const result = await runCell(forge, cell, title.replace(/[^a-zA-Z0-9]+/g, '-').toLowerCase());
        judge(cell, result, forge.checksByPath);
      },
    );
  });
}

if (isReal) describeTrees('real forge', () => openRealTreeForge(env), played, test.concurrent.each);
else {
  describeTrees('forge on real git over HTTPS', openFakeTreeForge);
  // Where a check of conflicts is stricter than git: what it refuses is told, and the others land.
  const strict = CELLS.filter(
    ({ kind, style, size }) =>
      (style === 'squash' &&
        (kind === 'rename and edit' ? size > 1 : kind === 'mode change' && size === 2)) ||
      (style === 'rebase' &&
        KINDS_OF_REBASE.includes(kind) &&
        size === 2 &&
        (isEveryCell || isLeftToStrict(kind))),
  );
  describeTrees('the same as Gitea', () => openFakeTreeForge('gt126'), strict);
}
