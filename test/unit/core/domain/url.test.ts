import { normalizeInstanceUrl, normalizeSlug } from '#core/domain/url.ts';

describe('normalizeInstanceUrl (D-46, A101)', () => {
  const same = 'https://git.example.org';
  test.each([
    'https://git.example.org',
    'https://git.example.org/',
    'HTTPS://Git.Example.ORG/',
    'https://git.example.org:443/',
    'https://git.example.org./',
    'https://user:pass@git.example.org/',
    'https://git.example.org/?a=b#c',
    ' https://git.example.org ',
    'https://git.example.org//',
    'https:\\\\git.example.org\\',
    'https://git.example.org/forge/..',
    'https://ｇit.example.org',
    'https://git%2Eexample.org',
  ])('%j is the same instance as https://git.example.org', (typed) => {
    expect(normalizeInstanceUrl(typed)).toBe(same);
  });

  test.each([
    ['the path keeps its case', 'https://x.org/Forge/', 'https://x.org/Forge'],
    ['an extra port stays', 'https://x.org:3000', 'https://x.org:3000'],
    ['http keeps its scheme', 'http://x.org:80/', 'http://x.org'],
    ['a name outside ASCII becomes punycode', 'https://bücher.example', 'https://xn--bcher-kva.example'],
    ['needless escapes are undone', 'https://x.org/%66orge', 'https://x.org/forge'],
    ['needed escapes are upper case', 'https://x.org/a%2fb', 'https://x.org/a%2Fb'],
    ['doubled slashes collapse', 'https://x.org//a//b/', 'https://x.org/a/b'],
    ['decimal addresses are spelled out', 'http://2130706433/', 'http://127.0.0.1'],
  ])('%s', (_name, typed, normal) => {
    expect(normalizeInstanceUrl(typed)).toBe(normal);
  });

  test.each(['', 'git.example.org', 'ftp://git.example.org', 'https://', 'https://.', 'https://a b'])(
    '%j has no normal form',
    (typed) => {
      expect(normalizeInstanceUrl(typed)).toBeNull();
    },
  );

  test('a normal form is its own normal form', () => {
    for (const typed of ['HTTPS://A.b:444//C%2f%41/', 'https://x.org/a/', 'http://[::1]:80/']) {
      const once = normalizeInstanceUrl(typed);
      expect(once).not.toBeNull();
      expect(normalizeInstanceUrl(once ?? '')).toBe(once);
    }
  });
});

describe('normalizeSlug (D-46)', () => {
  test.each([
    ['Acme/Web', 'acme/web'],
    ['acme/web.git', 'acme/web.git'],
    ['a-b_c/d.e', 'a-b_c/d.e'],
  ])('%j becomes %j', (typed, normal) => {
    expect(normalizeSlug(typed)).toBe(normal);
  });

  test.each(['../web', './web', 'acme/..', 'acme/.', '../..'])(
    '%j is a step in a path, not a slug',
    (typed) => {
      expect(normalizeSlug(typed)).toBeNull();
    },
  );

  test.each(['.acme/web', 'acme/..web', 'a../b..'])('%j is odd, but a slug', (typed) => {
    expect(normalizeSlug(typed)).toBe(typed);
  });

  test.each(['', 'acme', '/web', 'acme/', 'a/b/c', 'a b/c', 'a/b"', 'a\\b/c', 'a/ü', `a/${'b'.repeat(140)}`])(
    '%j is no slug',
    (typed) => {
      expect(normalizeSlug(typed)).toBeNull();
    },
  );
});
