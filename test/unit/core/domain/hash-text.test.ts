import { hashCharacters, hashText } from '#core/domain/hash-text.ts';
import { backportBranch } from '#core/domain/queue/queue-names.ts';
import { sectionOf } from '#core/domain/wakes/fairness.ts';
import { shareOf } from '#core/domain/wakes/wake-rule.ts';

test.each([
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
])('the hash of %j is the one that FNV-1a gives in 32 bits', (text, hash) => {
  expect(hashText(text)).toBe(hash);
  expect(hashCharacters(text)).toBe(hash);
});

test('what repositories and branches were given by their hash stays theirs', () => {
  expect(shareOf('repo-1')).toBe(0.7660997479688376);
  expect(shareOf('ümlaut 😀')).toBe(0.523398231016472);
  expect(sectionOf('repo-1', 400).section).toBe(3);
  expect(sectionOf('repo-😀', 400).section).toBe(5);
  expect(backportBranch('mq', 7, 'x'.repeat(120))).toMatch(/x-c14b2ba5$/);
  expect(backportBranch('mq', 7, '😀'.repeat(60))).toMatch(/😀-f1e98875$/);
});
