import {
  listForkPoints,
  listReplayed,
  type OwnCommit,
  standsOn,
} from '../../../../engine-container/src/staging/ancestry.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

/** `b:a` is commit b on a; `m:b,c` a merge; without a colon a root. Newest first, as forges list. */
function commits(...lines: readonly string[]): readonly OwnCommit[] {
  return lines.map((line) => {
    const [sha = '', parents = ''] = line.split(':');
    return { sha, parents: parents === '' ? [] : parents.split(',') };
  });
}
const staged = (...shas: readonly string[]) => new Set(shas);

describe('the fork point of a head', () => {
  const STACK = commits('c:b', 'b:a', 'a:base');

  test.each([
    ['nothing is staged', staged(), { staged: [], base: ['base'], below: [] }],
    ['others are staged', staged('x', 'y'), { staged: [], base: ['base'], below: [] }],
    ['it stands on one of a single commit', staged('a'), { staged: ['a'], base: [], below: ['base'] }],
    ['it stands on one of several commits', staged('a', 'b'), { staged: ['b'], base: [], below: ['base'] }],
  ])('%s', (_name, known, expected) => {
    expect(listForkPoints(STACK, known)).toEqual(expected);
  });

  test('on two staged ones that it merged: both', () => {
    const own = commits('m:p,q', 'q:base', 'p:base');
    expect(listForkPoints(own, staged('p', 'q'))).toMatchObject({ staged: ['p', 'q'], base: [] });
    // The other side of the merge then ends on the base, below the staged one.
    expect(listForkPoints(own, staged('p'))).toMatchObject({ staged: ['p'], base: [], below: ['base'] });
  });

  test('on two staged ones of which one contains the other: the upper one', () => {
    const own = commits('m:p,q', 'q:p', 'p:base');
    expect(listForkPoints(own, staged('p', 'q'))).toMatchObject({ staged: ['q'] });
  });

  test('on a staged one and on a newer base that it merged: both', () => {
    const own = commits('m:p,newer', 'p:base');
    expect(listForkPoints(own, staged('p'))).toEqual({ staged: ['p'], base: ['newer'], below: ['base'] });
  });

  test('a head that merged the base: each end of its own commits', () => {
    const own = commits('c:m', 'm:b,newer', 'b:base');
    expect(listForkPoints(own, staged())).toEqual({ staged: [], base: ['newer', 'base'], below: [] });
  });
});

describe('the commits that a rebase replays', () => {
  const replayed = (own: readonly OwnCommit[], known = staged()) =>
    listReplayed(own, known).map(({ sha, parent }) => `${sha}:${parent}`);

  test('a line, parents first', () => {
    expect(replayed(commits('c:b', 'b:a', 'a:base'))).toEqual(['a:base', 'b:a', 'c:b']);
  });

  test('a listing in whatever order', () => {
    for (const own of [commits('a:base', 'b:a', 'c:b'), commits('b:a', 'c:b', 'a:base')]) {
      expect(replayed(own)).toEqual(['a:base', 'b:a', 'c:b']);
    }
  });

  test('nothing, and a commit without parents', () => {
    expect(replayed([])).toEqual([]);
    expect(replayed(commits('b:a', 'a'))).toEqual(['b:a']);
  });

  test('merges are left out, both their sides are replayed', () => {
    const own = commits('t:m', 'm:p,q', 'q:base', 'p:base');
    expect(replayed(own)).toEqual(expect.arrayContaining(['p:base', 'q:base', 't:m']));
    expect(replayed(own)).toHaveLength(3);
    expect(replayed(own).at(-1)).toBe('t:m');
  });

  test('two lines one after the other, that of the first parent first, whatever their dates', () => {
    const own = commits('m:c2,d2', 'd2:d1', 'c2:c1', 'd1:base', 'c1:base');
    expect(replayed(own)).toEqual(['c1:base', 'c2:c1', 'd1:base', 'd2:d1']);
    const turned = commits('m:d2,c2', 'd2:d1', 'c2:c1', 'd1:base', 'c1:base');
    expect(replayed(turned)).toEqual(['d1:base', 'd2:d1', 'c1:base', 'c2:c1']);
  });

  test('a commit that an earlier member brought along is not replayed again', () => {
    expect(replayed(commits('c:b', 'b:a', 'a:base'), staged('a', 'b'))).toEqual(['c:b']);
  });

  test('a history longer than the language allows calls in each other', () => {
    const length = 20_000;
    const own = Array.from({ length }, (_, at) => ({
      sha: `c${at}`,
      parents: [at === 0 ? 'base' : `c${at - 1}`],
    }));
    const order = listReplayed([...own].reverse(), staged());
    expect(order).toHaveLength(length);
    expect(order[0]).toEqual({ sha: 'c0', parent: 'base' });
    expect(order.at(-1)).toEqual({ sha: `c${length - 1}`, parent: `c${length - 2}` });
  });

  test('any graph in any order: each once, no merge, never before its parent', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new SeededRandom(seed);
      const own: OwnCommit[] = [];
      for (let at = 0; at < 12; at += 1) {
        const pick = () => (at === 0 ? 'base' : random.pick(['base', ...own.map(({ sha }) => sha)]));
        const parents = random.chance(0.25) ? [pick(), pick()] : [pick()];
        own.push({ sha: `c${at}`, parents: [...new Set(parents)] });
      }
      const known = new Set(own.filter(() => random.chance(0.2)).map(({ sha }) => sha));
      const shuffled = own
        .map((commit) => ({ commit, key: random.next() }))
        .sort((a, b) => a.key - b.key)
        .map(({ commit }) => commit);
      const order = listReplayed(shuffled, known).map(({ sha }) => sha);
      const expected = own.filter(({ sha, parents }) => parents.length === 1 && !known.has(sha));
      expect([...order].sort()).toEqual(expected.map(({ sha }) => sha).sort());
      for (const { sha, parents } of expected) {
        const below = order.indexOf(parents[0] ?? '');
        if (below >= 0)
          expect({ seed, sha, below: below < order.indexOf(sha) }).toEqual({ seed, sha, below: true });
      }
    }
  });
});

test.each([
  ['a line from it', commits('c:b', 'b:a', 'a:base'), true],
  ['a merge of it into an older line', commits('m:p,base', 'p:old'), true],
  ['an older line', commits('p:old'), false],
  ['a history of its own', commits('b:a', 'a'), false],
] as const)('%s: the head holds the base or not', (_name, own, expected) => {
  expect(standsOn(own, 'base')).toBe(expected);
});
