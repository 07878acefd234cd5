import fc from 'fast-check';
import { isGlob, matchGlob } from '#core/domain/glob.ts';

describe('glob', () => {
  test.each([
    ['main', 'main', true],
    ['main', 'Main', false],
    ['release/*', 'release/1', true],
    ['release/*', 'release/1/2', false],
    ['release/**', 'release/1/2', true],
    ['**', 'mq/main/staging', true],
    ['*', 'mq/main', false],
    ['*', '', true],
    ['mq/**', 'mq', false],
    ['**/x', 'a/b/x', true],
    ['v?', 'v1', true],
    ['v?', 'v', false],
    ['v?', 'v/', false],
    ['v[0-9]', 'v5', true],
    ['v[0-9]', 'vx', false],
    ['v[!0-9]', 'vx', true],
    ['v[!0-9]', 'v5', false],
    ['v[abc]', 'vb', true],
    ['v[!abc]', 'vb', false],
    ['{main,release/*}', 'release/2', true],
    ['{main,release/*}', 'main', true],
    ['{main,release/*}', 'release/2/3', false],
    ['{a,b{c,d*}}x', 'bdzzx', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['a.b', 'axb', false],
    ['a,b', 'a,b', true],
    ['ü*', 'üx', true],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(matchGlob(pattern, text, '/')).toBe(expected);
  });

  test('without a separator a star matches anything, as in required contexts', () => {
    expect(matchGlob('ci/*', 'ci/a/b', null)).toBe(true);
    expect(matchGlob('ci/?', 'ci//', null)).toBe(true);
  });

  test.each(['[', '[]', 'a[!]', '{a', '{a,b', 'a\\', '{'.repeat(40)])('%s is malformed', (pattern) => {
    expect(matchGlob(pattern, 'a', '/')).toBeNull();
  });

  test('a name without special characters matches itself and nothing else', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        fc.pre(!isGlob(name));
        expect(matchGlob(name, name, '/')).toBe(true);
        expect(matchGlob(name, other, '/')).toBe(name === other);
      }),
    );
  });

  test('agrees with the regular expression of the same meaning', () => {
    const piece = fc.constantFrom('a', 'b', '/', '*', '**', '?');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.stringMatching(/^[ab/]{0,8}$/), (pieces, text) => {
        const pattern = pieces.join('');
        const source = pattern.replace(/\*\*|\*|\?/g, (part) =>
          part === '**' ? '.*' : part === '*' ? '[^/]*' : '[^/]',
        );
        expect(matchGlob(pattern, text, '/')).toBe(new RegExp(`^${source}$`).test(text));
      }),
    );
  });

  test('a pattern made to exhaust a matcher that goes back ends at once', () => {
    const startedAt = performance.now();
    expect(matchGlob(`${'*a'.repeat(120)}b`, 'a'.repeat(250), '/')).toBe(false);
    expect(matchGlob(`${'{*,**}'.repeat(40)}b`, 'a'.repeat(250), '/')).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});
