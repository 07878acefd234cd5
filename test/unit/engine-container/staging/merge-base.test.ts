import type { CommitLink } from '#core/ports/forge.ts';
import { confirmMergeBase, findMergeBase } from '../../../../engine-container/src/staging/merge-base.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

/** Commit -> its parents. */
type History = Readonly<Record<string, readonly string[]>>;

function reach(history: History, from: readonly string[]): Set<string> {
  const found = new Set<string>();
  const stack = [...from];
  for (let sha = stack.pop(); sha !== undefined; sha = stack.pop()) {
    if (found.has(sha)) continue;
    found.add(sha);
    stack.push(...(history[sha] ?? []));
  }
  return found;
}

function missing(history: History, base: readonly string[], head: string): CommitLink[] {
  const known = reach(history, base);
  return [...reach(history, [head])]
    .filter((sha) => !known.has(sha))
    .map((sha) => ({ sha, parents: history[sha] ?? [] }));
}

/** Every common ancestor that is below no other one. */
function bestOf(history: History, base: readonly string[], head: string): readonly string[] {
  const known = reach(history, base);
  const common = [...reach(history, [head])].filter((sha) => known.has(sha));
  return common.filter((sha) => !common.some((other) => other !== sha && reach(history, [other]).has(sha)));
}

/** As the engine asks: for what the base lacks, and with what is staged on it. */
function find(
  history: History,
  { base, staged = [], head }: { base: string; staged?: string[]; head: string },
) {
  let calls = 0;
  const list = async (newer: string, older: string) => {
    calls += 1;
    return missing(history, [newer], older);
  };
  const forge = { listNewCommits: list, listOwnCommits: list };
  const brought = new Set(staged.flatMap((sha) => missing(history, [base], sha).map((commit) => commit.sha)));
  const own = missing(history, [base], head);
  return findMergeBase(forge as never, head, own, brought).then((found) => ({ found, calls }));
}

const LINE: History = { 1: [], 2: ['1'], 3: ['2'], 4: ['2'], 5: ['4'] };

test.each<[name: string, history: History, base: string, head: string, expected: string | null]>([
  ['a fork', LINE, '3', '5', '2'],
  ['a head that contains the base', LINE, '2', '5', '2'],
  ['a head that the base contains', LINE, '5', '4', '4'],
  ['the same commit', LINE, '5', '5', '5'],
  ['a head that merged the base in', { ...LINE, 6: ['5', '3'], 7: ['3'] }, '7', '6', '3'],
  [
    'a head that merged the base in twice',
    { ...LINE, 6: ['5', '3'], 7: ['3'], 8: ['6', '7'], 9: ['7'] },
    '9',
    '8',
    '7',
  ],
  ['unrelated histories', { 1: [], 2: [], 3: ['2'] }, '1', '3', null],
  [
    'two histories that were merged into each other',
    { 1: [], 2: ['1'], 3: ['1'], 4: ['2', '3'], 5: ['3', '2'] },
    '4',
    '5',
    'several',
  ],
])('%s', async (_, history, base, head, expected) => {
  expect((await find(history, { base, head })).found).toBe(expected);
});

test('a line of commits costs no call, and each end of a history with merges one or two', async () => {
  expect((await find(LINE, { base: '3', head: '5' })).calls).toBe(0);
  const merged = { ...LINE, 6: ['5', '3'], 7: ['3'] };
  expect((await find(merged, { base: '7', head: '6' })).calls).toBeLessThanOrEqual(2);
});

describe('on top of what is staged', () => {
  test('the head of one of them, where it stands on that', async () => {
    const history = { 1: [], p: ['1'], q: ['p'] };
    expect((await find(history, { base: '1', staged: ['p'], head: 'q' })).found).toBe('p');
  });

  test('two of them that it merged: several', async () => {
    const history = { 1: [], p: ['1'], q: ['1'], m: ['p', 'q'] };
    expect((await find(history, { base: '1', staged: ['p', 'q'], head: 'm' })).found).toBe('several');
  });

  test('one of them and a newer base that it merged: several', async () => {
    const history = { 1: [], 2: ['1'], p: ['1'], m: ['p', '2'] };
    expect((await find(history, { base: '2', staged: ['p'], head: 'm' })).found).toBe('several');
    expect((await find(history, { base: '2', head: 'm' })).found).toBe('2');
  });

  test('one that has the newer base itself: that one', async () => {
    const history = { 1: [], 2: ['1'], 3: ['2'], p: ['2'], m: ['p', '1'] };
    expect((await find(history, { base: '3', staged: ['p'], head: 'm' })).found).toBe('p');
  });
});

/** A base of so many commits, each of which was merged into the head on its day. */
function mergedDaily(days: number): Record<string, readonly string[]> {
  const history: Record<string, readonly string[]> = { b0: [], h0: ['b0'] };
  for (let day = 1; day <= days; day += 1) {
    history[`b${day}`] = [`b${day - 1}`];
    history[`h${day}`] = [`h${day - 1}`, `b${day}`];
  }
  return history;
}

test.each([17, 50, 400])(
  '%i merges of the base in the head: the newest of them, in one listing',
  async (days) => {
    const history = { ...mergedDaily(days), tip: [`b${days}`] };
    expect(await find(history, { base: 'tip', head: `h${days}` })).toEqual({ found: `b${days}`, calls: 1 });
  },
);

test('many ends that do not contain each other: several, in one listing', async () => {
  const history: Record<string, readonly string[]> = { 0: [] };
  const sides = Array.from({ length: 17 }, (_, at) => `s${at}`);
  for (const side of sides) history[side] = ['0'];
  history.base = sides;
  history.head = [...sides];
  expect(await find(history, { base: 'base', head: 'head' })).toEqual({ found: 'several', calls: 1 });
});

test('few ends cost no listing', async () => {
  const history = { ...mergedDaily(3), tip: ['b3'] };
  expect(await find(history, { base: 'tip', head: 'h3' })).toEqual({ found: 'b3', calls: 3 });
});

function randomHistory(
  random: SeededRandom,
  commits: number,
  span: number,
): Record<string, readonly string[]> {
  const history: Record<string, readonly string[]> = { c0: [] };
  for (let at = 1; at < commits; at += 1) {
    const pick = () => `c${Math.max(0, at - 1 - random.int(span))}`;
    history[`c${at}`] = random.chance(0.5) ? [...new Set([pick(), pick()])] : [pick()];
  }
  return history;
}

test('any history: the one best common ancestor, or that there are several', async () => {
  const tally = { one: 0, several: 0, staged: 0 };
  for (let seed = 1; seed <= 2000; seed += 1) {
    const random = new SeededRandom(seed);
    const history = randomHistory(random, 14, 5);
    const [base, head] = [`c${random.int(14)}`, `c${random.int(14)}`];
    const staged = random.chance(0.5) ? [`c${random.int(14)}`] : [];
    const best = bestOf(history, [base, ...staged], head);
    const { found } = await find(history, { base, staged, head });
    expect({ seed, found }).toEqual({ seed, found: best.length === 1 ? best[0] : 'several' });
    tally[best.length === 1 ? 'one' : 'several'] += 1;
    if (staged.length > 0) tally.staged += 1;
  }
  expect(tally.several).toBeGreaterThan(20);
  expect(tally.staged).toBeGreaterThan(200);
});

test('any history with many ends, from whichever of them the listing begins', async () => {
  const tally = { one: 0, several: 0, staged: 0 };
  for (let seed = 1; seed <= 1500; seed += 1) {
    const random = new SeededRandom(seed);
    const history = randomHistory(random, 40, 12);
    const commits = Object.keys(history) as [string, ...string[]];
    // Heads of many merges, in any order.
    for (let at = 0; at < 12; at += 1)
      history[`m${at}`] = [at === 0 ? random.pick(commits) : `m${at - 1}`, random.pick(commits)];
    const [base, staged] = [`c${35 + random.int(5)}`, random.chance(0.5) ? [random.pick(commits)] : []];
    const best = bestOf(history, [base, ...staged], 'm11');
    const { found } = await find(history, { base, staged, head: 'm11' });
    expect({ seed, found }).toEqual({ seed, found: best.length === 1 ? best[0] : 'several' });
    tally[best.length === 1 ? 'one' : 'several'] += 1;
    if (staged.length > 0) tally.staged += 1;
  }
  expect(Math.min(tally.one, tally.several, tally.staged)).toBeGreaterThan(200);
});

/** `told` is what the forge says, of whatever head and tip. */
test('any history: the merge base that the forge tells is taken where it is the only one', async () => {
  const tally = { taken: 0, refused: 0 };
  for (let seed = 1; seed <= 3000; seed += 1) {
    const random = new SeededRandom(seed);
    const history = randomHistory(random, 14, 5);
    const [base, head, told] = [`c${random.int(14)}`, `c${random.int(14)}`, `c${random.int(14)}`];
    const list = async (newer: string, older: string) => missing(history, [newer], older);
    const forge = { listNewCommits: list, listOwnCommits: list } as never;
    const best = bestOf(history, [base], head);
    const isOnly = best.length === 1 && best[0] === told;
    const found = await confirmMergeBase(forge, head, base, told);
    expect({ seed, found }).toEqual({ seed, found: isOnly ? told : null });
    tally[isOnly ? 'taken' : 'refused'] += 1;
  }
  expect(tally.taken).toBeGreaterThan(200);
});
