import { fromFirstLine, MASK, maskSecret, toPlainLog } from '#core/domain/forge/log-text.ts';

describe('the log of a program as plain text', () => {
  test.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a title of a terminal', 'a\u001b]0;owned\u0007b', 'ab'],
    ['what moves a cursor', 'a\u001b[2J\u001b[Hb\u001bMc', 'abc'],
    ['what turns a direction', 'a\u202eb\u2066c\u200bd', 'abcd'],
    ['other control characters', 'a\u0000b\u0008c\u009b1md', 'abc1md'],
    ['lines that were overwritten', '10 %\r50 %\rdone\r\nnext', 'done\nnext'],
  ])('has none of %s', (_what, given, expected) => {
    expect(toPlainLog(given)).toBe(expected);
  });

  // An expression over these tries each with all that follow, which takes minutes.
  test('is read in one go where it is carriage returns alone', () => {
    expect(toPlainLog('\r'.repeat(262_144))).toBe('');
    expect(toPlainLog(`a${'\r'.repeat(262_144)}\nb`)).toBe('a\nb');
  });

  test('keeps letters, tabs and lines', () => {
    expect(toPlainLog('\tä = 1\n\n  ok ✓\n')).toBe('\tä = 1\n\n  ok ✓\n');
  });
});

describe('a secret', () => {
  const SECRET = 'c0ffee+/canary';
  test.each([
    ['itself', `token ${SECRET}!`, `token ${MASK}!`],
    ['in capitals', SECRET.toUpperCase(), MASK],
    ['in an address', `?access_token=${encodeURIComponent(SECRET)}&x`, `?access_token=${MASK}&x`],
    ['in Base64', `x ${btoa(SECRET)} y`, `x ${MASK} y`],
    ['of a header', 'Authorization: Bearer abc.def', `Authorization: Bearer ${MASK}`],
    ['of another header', '> authorization: token 1234abcd', `> authorization: token ${MASK}`],
    ['of an address', 'https://ci:pa55word@git.example.org/a', `https://${MASK}@git.example.org/a`],
    ['of an address of a database', 'postgres://ci:pa55word@db/a', `postgres://${MASK}@db/a`],
    [
      'of an address without a name',
      'https://0123abcd@git.example.org/a',
      `https://${MASK}@git.example.org/a`,
    ],
  ])('is masked %s', (_how, given, expected) => {
    expect(maskSecret(given, SECRET)).toBe(expected);
  });

  test('and nothing else is', () => {
    const log = `commit ${'a'.repeat(40)} https://git.example.org/a@b:1 at 10:00`;
    expect(maskSecret(log, SECRET)).toBe(log);
  });

  test('of which a cut leaves the rest is gone with its line', () => {
    expect(fromFirstLine('fee+/canary\nnext\n')).toBe('next\n');
    expect(fromFirstLine('one long line')).toBe('');
  });
});
