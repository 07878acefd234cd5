import * as format from '../../../../dashboard/view/format.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

test.each([
  [format.showNumber(null), 'Unknown'],
  [format.showNumber(0), '0'],
  [format.showPercent(null), 'Unknown'],
  [format.showPercent(33.3), '33.3 %'],
  [format.showDuration(null), 'Unknown'],
  [format.showDuration(Number.NaN), 'Unknown'],
  [format.showAgo(null, NOW), 'Unknown'],
  [format.showAgo('nonsense', NOW), 'Unknown'],
  [format.showClock(null, NOW), 'Unknown'],
  [format.showFullTime(null), 'Unknown'],
  [format.shortSha(null), 'Unknown'],
])('null is unknown, never zero: %s', (shown, expected) => {
  expect(shown).toBe(expected);
});

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3_599, '59 min'],
  [3_600, '1 h'],
  [7_500, '2 h 5 min'],
  [86_400, '1 d'],
  [97_200, '1 d 3 h'],
  [-5, '0 s'],
])('%i seconds are %s', (seconds, expected) => {
  expect(format.showDuration(seconds)).toBe(expected);
});

test('the hour after midnight is the hour 00', () => {
  const midnight = new Date(2026, 10, 22, 0, 13);
  expect(format.showClock(midnight.toISOString(), midnight.getTime())).toBe('00:13');
});

test('titles are text: markup stays as it is, direction and control marks become visible (A117)', () => {
  expect(format.showText('<b>x</b>')).toBe('<b>x</b>');
  expect(format.showText('a\u202eb\u2066c\u200bd\u0007e\nf\u0085')).toBe(
    'a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffd',
  );
  expect(format.showText('\u05d0\u05d1')).toBe('\u05d0\u05d1');
});

test('a title of 10,000 letters is cut, and never in the middle of one', () => {
  expect([...format.showText('x'.repeat(10_000))]).toHaveLength(300);
  const faces = format.showText('\u{1f600}'.repeat(5_000));
  expect([...faces]).toHaveLength(300);
  expect(Buffer.from(faces).toString()).toBe(faces);
});

test.each(['javascript:alert(1)', 'data:text/html,x', 'ftp://x/', 'nonsense', '//x', null, undefined])(
  'no link to %s',
  (url) => {
    expect(format.safeUrl(url)).toBeNull();
  },
);

test('addresses on the forge are made of its own parts', () => {
  expect(format.pullUrl('https://git.example.org/', 'acme/app', 7)).toBe(
    'https://git.example.org/acme/app/pulls/7',
  );
  expect(format.pullUrl(null, 'acme/app', 7)).toBeNull();
  expect(format.commitUrl('javascript:x', 'a/b', 'f00')).toBeNull();
});

test.each([
  [[], 'no pull request'],
  [[3], '#3'],
  [[3, 4], '#3 and #4'],
  [[1, 2, 3, 4, 5], '#1, #2, #3 and 2 more'],
])('%j is %s', (prs, expected) => {
  expect(format.showPulls(prs)).toBe(expected);
});

test.each([
  ['r', 'Whole batch'],
  ['r.2', 'Part 2'],
  ['r.2.1.2', 'Part 2.1.2'],
])('the node %s of a batch is called "%s"', (node, name) => {
  expect(format.showPart(node)).toBe(name);
});
