import fc from 'fast-check';
import { Effort, EffortSpent } from '#core/domain/effort.ts';
import { GlobReader, GlobSet, isGlob, isReadDifferently } from '#core/domain/globs/glob.ts';
import { Subject } from '#core/domain/globs/glob-matcher.ts';
import { matchGlob } from '../../../../support/match-glob.ts';

const TEXTS =
  'main MAIN master x1 a b c xa xb a] release/1 release/1/2 main-x ab - ^ 2 a,b main+ (main) m|n ma.n ] ma^n m*in m5in'.split(
    ' ',
  );

/**
 * Which of the texts a pattern finds with `/` as separator, as Go's own answers were: of `gobwas/glob` 0.2.3 first, then, where it
 * differs, of `modules/glob` of Gitea 1.26.3 (the same file in 1.25.4). Null: it does not compile.
 */
const ANSWERS: readonly (readonly [pattern: string, gobwas: string | null, gitea?: string | null])[] = [
  ['main', 'main'],
  ['release/*', 'release/1'],
  ['release/**', 'release/1 release/1/2'],
  ['*/**', 'release/1 release/1/2'],
  ['?ain', 'main'],
  ['*?', 'main MAIN master x1 a b c xa xb a] main-x ab - ^ 2 a,b main+ (main) m|n ma.n ] ma^n m*in m5in'],
  ['[main]*', 'main master a a] main-x ab a,b main+ m|n ma.n ma^n m*in m5in'],
  ['[a-z]*', 'main master x1 a b c xa xb a] main-x ab a,b main+ m|n ma.n ma^n m*in m5in'],
  ['[!a-m]*', 'MAIN x1 xa xb - ^ 2 (main) ]'],
  ['m[!a-c]*', 'm|n m*in m5in'],
  ['[a-z0-9]*', null, 'main master x1 a b c xa xb a] main-x ab 2 a,b main+ m|n ma.n ma^n m*in m5in'],
  ['[a-z0-9_-]*', null, 'main master x1 a b c xa xb a] main-x ab - 2 a,b main+ m|n ma.n ma^n m*in m5in'],
  [
    '[^x]*',
    'x1 xa xb ^',
    'main MAIN master a b c a] main-x ab - ^ 2 a,b main+ (main) m|n ma.n ] ma^n m*in m5in',
  ],
  ['ma[^x]n', 'ma^n', 'main ma.n ma^n'],
  ['[a-c-e]*', null, 'a b c a] ab - a,b'],
  ['[a-]*', null, 'a a] ab - a,b'],
  ['[z-a]*', null],
  ['[]a]', null, 'a ]'],
  ['[!]]', null, 'a b c - ^ 2'],
  ['[]', null],
  ['[!]', null],
  ['[ab', null],
  ['mai[n', null],
  ['[a\\]b]', 'a b ]'],
  ['[[:alpha:]]*', 'a]', 'main MAIN master x1 a b c xa xb a] main-x ab a,b main+ m|n ma.n ma^n m*in m5in'],
  ['[[:^alpha:]]*', 'a]', '- ^ 2 (main) ]'],
  ['[[:nope:]]*', '', null],
  ['[\\d]*', '', '2'],
  ['[\\w/]*', '', 'main MAIN master x1 a b c xa xb a] main-x ab 2 a,b main+ m|n ma.n ma^n m*in m5in'],
  ['m\\ain', 'main', ''],
  ['m\\*in', 'm*in'],
  ['m\\din', '', 'm5in'],
  ['mai\\', '', null],
  ['{main,release/*}', 'main release/1'],
  ['{,a}main', 'main'],
  ['main{,-x}', 'main main-x'],
  ['x{a,{b,c}}', 'xa xb'],
  ['{[a-z]*,x}', 'main master x1 a b c xa xb a] main-x ab a,b main+ m|n ma.n ma^n m*in m5in'],
  ['{a\\,b}', 'a,b'],
  ['{a,b', 'a b', 'a b xb a] ab a,b'],
  ['x{a,{b,c', 'xa xb', 'b c xa xb ab a,b'],
  ['{a,{b,c}', 'a b c', 'a b c xb a] ab a,b'],
  ['a}', ''],
  ['a]', 'a]'],
  ['a,b', 'a,b'],
  ['(main)', '(main)'],
  ['main+', 'main+'],
  ['ma.n', 'ma.n'],
  ['m|n', 'm|n'],
  ['[]x*', null, '^ ]'],
  ['[]x*]', null, ']'],
  ['[]{a]}', null],
  ['*{a', 'a xa'],
  ['ma{i,[a-z]}n', 'main'],
  ['ma{i,[a-z0-9]}n', null, 'main'],
];

describe('glob', () => {
  describe.each(['gobwas', 'gitea'] as const)('as %s reads it', (dialect) => {
    const rows = ANSWERS.map(([pattern, gobwas, gitea = gobwas]) => ({ pattern, gobwas, gitea }));
    test.each(rows)('$pattern', ({ pattern, gobwas, gitea }) => {
      const found = TEXTS.filter((text) => matchGlob(pattern, text, '/', dialect) === true);
      const isMalformed = matchGlob(pattern, '', '/', dialect) === null;
      expect(isMalformed ? null : found.join(' ')).toBe(dialect === 'gobwas' ? gobwas : gitea);
    });
  });

  test('two readings differ in no pattern that is not marked', () => {
    const differing = ANSWERS.filter(([, , gitea]) => gitea !== undefined).map(([pattern]) => pattern);
    expect(differing.filter((pattern) => !isReadDifferently(pattern))).toEqual([]);
  });

  test('what one of them finds may be found', () => {
    const mayMatch = (pattern: string, text: string) => new GlobSet([pattern], '/').mayMatch(text);
    expect(mayMatch('[a-z0-9]*', 'main')).toBe(true);
    expect(mayMatch('m\\ain', 'main')).toBe(true);
    expect(mayMatch('[ab', 'a')).toBe(false);
    // Too long to be read, and so not known to match nothing.
    expect(mayMatch(`{${'a,'.repeat(2_500)}mq}`, 'mq')).toBe(true);
  });

  test('a set of patterns finds what either reading of one of them finds', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '/',
      '.',
      '\n',
      '*',
      '**',
      '?',
      '[ab]',
      '[a-b.]',
      '{a,b}',
      '{a',
      ',b',
      '\\a',
    );
    const pattern = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(
        fc.array(pattern, { maxLength: 3 }),
        fc.stringMatching(/^[ab/.\n]{0,6}$/),
        fc.constantFrom('/', './', null),
        (patterns, text, separators) => {
          const isFound = patterns.some((each) =>
            (['gitea', 'gobwas'] as const).some((by) => matchGlob(each, text, separators, by) === true),
          );
          expect(new GlobSet(patterns, separators).mayMatch(text)).toBe(isFound);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a reader reads a pattern once', () => {
    const effort = new Effort(1_000_000);
    const reader = new GlobReader('gitea', '/', effort);
    const spent = (text: string): number => {
      const before = effort.left;
      reader.matches(`release/*-${'x'.repeat(200)}`, new Subject(text));
      return before - effort.left;
    };
    expect(spent('main')).toBeGreaterThan(10_000);
    expect(spent('other')).toBe(1);
  });

  test('a reader says of a pattern that it cannot read that it is not known', () => {
    const find = (pattern: string, text: string, steps: number) =>
      new GlobReader('gitea', '/', new Effort(steps)).matches(pattern, new Subject(text));
    expect(() => find('?'.repeat(5_000), 'main', 1_000_000)).toThrow(EffortSpent);
    expect(() => find('*'.repeat(50), 'main', 5_000)).toThrow(EffortSpent);
    expect(() => find('*a'.repeat(50), 'a'.repeat(4_000), 100_000)).toThrow(EffortSpent);
    expect(find('*a'.repeat(50), 'a'.repeat(4_000), 1_000_000)).toBe(true);
  });

  test('without a separator a star matches anything, as in required contexts', () => {
    for (const dialect of ['gobwas', 'gitea'] as const) {
      expect(matchGlob('ci/*', 'ci/a/b', null, dialect)).toBe(true);
      expect(matchGlob('ci/?', 'ci//', null, dialect)).toBe(true);
    }
    expect(matchGlob('ci/[a-z0-9]*', 'ci/x1/y', null, 'gitea')).toBe(true);
  });

  test.each(['\\Qmain\\E', '\\pL*', '[\\x41]', '\\bmain'])(
    '%s, an escape of Go alone, is not read',
    (pattern) => {
      expect(matchGlob(pattern, 'main', '/', 'gitea')).toBeNull();
    },
  );

  test('a name without special characters matches itself and nothing else', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.constantFrom('gobwas' as const, 'gitea' as const),
        (name, other, dialect) => {
          fc.pre(!isGlob(name));
          expect(matchGlob(name, name, '/', dialect)).toBe(true);
          expect(matchGlob(name, other, '/', dialect)).toBe(name === other);
        },
      ),
    );
  });

  test('agrees with the regular expression of the same meaning', () => {
    const piece = fc.constantFrom('a', 'b', '/', '*', '**', '?');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }),
        fc.stringMatching(/^[ab/]{0,8}$/),
        fc.constantFrom('gobwas' as const, 'gitea' as const),
        (pieces, text, dialect) => {
          const pattern = pieces.join('');
          const source = pattern.replace(/\*\*|\*|\?/g, (part) =>
            part === '**' ? '.*' : part === '*' ? '[^/]*' : '[^/]',
          );
          expect(matchGlob(pattern, text, '/', dialect)).toBe(new RegExp(`^${source}$`).test(text));
        },
      ),
    );
  });

  test('follows all branches of an alternative, from all places at once', () => {
    const meaning = new Map([
      ['a', 'a'],
      ['b', 'b'],
      ['**', '.*'],
      ['{a,ab}', '(?:a|ab)'],
      ['{,b,/}', '(?:|b|/)'],
      ['{**,a,ab,b}', '(?:.*|a|ab|b)'],
      ['{b,aa,a,ba,{ab,}}', '(?:b|aa|a|ba|ab|)'],
    ]);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...meaning.keys()), { maxLength: 6 }),
        fc.stringMatching(/^[ab/]{0,8}$/),
        fc.constantFrom('gobwas' as const, 'gitea' as const),
        (pieces, text, dialect) => {
          const source = pieces.map((piece) => meaning.get(piece) ?? '').join('');
          expect(matchGlob(pieces.join(''), text, '/', dialect)).toBe(new RegExp(`^${source}$`).test(text));
        },
      ),
    );
  });

  test('places of several branches take steps for each time that they are put together', () => {
    const [branches, places] = [64, 1_000];
    const effort = new Effort(1_000_000);
    const pattern = `*{${','.repeat(branches - 1)}}b`;
    expect(
      new GlobReader('gobwas', '/', effort).matches(pattern, new Subject(`${'a'.repeat(places)}b`)),
    ).toBe(true);
    expect(1_000_000 - effort.left).toBeGreaterThan(3 * branches * places);
  });

  test.each(['gobwas', 'gitea'] as const)(
    'a pattern made to exhaust a matcher ends at once, as %s',
    (dialect) => {
      const startedAt = performance.now();
      const find = (pattern: string, text: string) => matchGlob(pattern, text, '/', dialect);
      expect(find(`${'*a'.repeat(120)}b`, 'a'.repeat(250))).toBe(false);
      expect(find(`${'{*,**}'.repeat(40)}b`, 'a'.repeat(250))).toBe(false);
      expect(() => find(`${'{'.repeat(5000)}`, 'a')).toThrow(EffortSpent);
      expect(find(`${'{a,'.repeat(900)}b`, 'a')).toBe(true);
      expect(() => find('?'.repeat(1_900_000), 'main')).toThrow(EffortSpent);
      // No machine is so slow: tried branch by branch, it would not end.
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    },
  );
});
