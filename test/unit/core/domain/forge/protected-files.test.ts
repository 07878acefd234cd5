import { FileGuard, parseFilePatterns } from '#core/domain/forge/protected-files.ts';
import { GLOB_STEPS_MAX } from '#core/domain/globs/glob.ts';

const guardOf = (text: string): FileGuard => new FileGuard(parseFilePatterns(text));
const file = (at: number): string => `src/a/b/c${at}.ts`;

describe('protected files', () => {
  test.each([
    ['secrets/**', 'secrets/a/b.txt', true],
    ['secrets/**', 'docs/secrets/a.txt', false],
    ['Secrets/*', 'SECRETS/a', true],
    ['secrets/*', 'secrets/a.txt', false],
    [' a.txt ; b.txt;; ', 'b.txt', true],
    ['*.lock', 'package.lock', true],
    ['*.lock', 'a/package.lock', false],
    ['**.lock', 'a/package.lock', true],
    // Read by some forges alone.
    ['[a-z0-9]*', 'x1', true],
    ['[a-z', 'a', false],
  ])('%j over %s: %s', (patterns, path, covered) => {
    expect(guardOf(patterns).covers(path)).toBe(covered);
  });

  // Read anew for each file, these take a minute of the engine of all tenants.
  test('many short patterns are read once, whatever the number of files', () => {
    const guard = guardOf(Array.from({ length: 9_000 }, (_, at) => `*x${at}`).join(';'));
    expect(guard.covers(file(0))).toBe(false);
    const afterFirst = guard.stepsLeft;
    for (let at = 1; at < 300; at += 1) expect(guard.covers(file(at))).toBe(false);
    expect(afterFirst - guard.stepsLeft).toBeLessThan(GLOB_STEPS_MAX / 2);
  });

  test('a thousand patterns over ten thousand files are told apart', () => {
    const guard = guardOf(Array.from({ length: 1_000 }, (_, at) => `secrets/${at}/**`).join(';'));
    const startedAt = performance.now();
    expect(Array.from({ length: 10_000 }, (_, at) => file(at)).filter((path) => guard.covers(path))).toEqual(
      [],
    );
    expect(guard.covers('secrets/999/a')).toBe(true);
    // Read anew for each file, they take minutes.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  // Asked to the end, two thousand members of a class or branches of an alternative hold up the engine of all tenants for minutes.
  test.each([
    ['a class', `**[${'\\d'.repeat(1_990)}a]**[x]`],
    ['a class that is repeated', `[]${'\\d'.repeat(1_990)}a*[x]`],
    ['an alternative of nothing', `**{${','.repeat(3_900)}}[x]`],
  ])('the members of %s are counted for each character', (_, pattern) => {
    const guard = new FileGuard([pattern]);
    guard.covers('b');
    const afterReading = guard.stepsLeft;
    guard.covers('a'.repeat(200));
    expect(afterReading - guard.stepsLeft).toBeGreaterThan(200 * 1_900);
  });

  test.each([
    ['patterns', Array.from({ length: 40_000 }, (_, at) => `*x${at}`).join(';')],
    ['letters of a pattern', '*x'.repeat(3_000)],
    ['steps', Array.from({ length: 30 }, (_, at) => `${'*a'.repeat(900 + at)}*`).join(';')],
  ])('more %s than can be read may cover any file, so that it is refused', (_, patterns) => {
    expect(guardOf(patterns).covers(`${'a'.repeat(4_000)}.ts`)).toBe(true);
  });
});
