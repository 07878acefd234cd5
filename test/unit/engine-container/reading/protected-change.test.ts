import { isAnyProtected, nameOfQuestion } from '../../../../engine-container/src/reading/protected-change.ts';

test('a long list of files against many patterns lets all others have a turn', async () => {
  let turns = 0;
  const other = setInterval(() => {
    turns += 1;
  }, 0);
  const patterns = Array.from({ length: 500 }, (_, at) => `**/${at}/*.ts`);
  const paths = Array.from({ length: 2_000 }, (_, at) => `src/a/b/c${at}.ts`);
  expect(await isAnyProtected(paths, patterns)).toBe(false);
  clearInterval(other);
  expect(turns).toBeGreaterThan(2);
});

test('the first file that a pattern covers is enough', async () => {
  expect(await isAnyProtected(['a.ts', 'secrets/a'], ['docs/**', 'secrets/**'])).toBe(true);
  expect(await isAnyProtected([], ['**'])).toBe(false);
});

describe('what the answer is kept for', () => {
  // As an earlier release spells it, which finds its own answers again after the change to this one and back.
  test('a few patterns stand as they are', () => {
    expect(nameOfQuestion(['secrets/**', '*.lock'], 'base-0')).toBe('base-0\nsecrets/**\n*.lock');
  });

  test('many have a short name of their own, which each pull request of a queue can keep', () => {
    const patterns = Array.from({ length: 5_000 }, (_, at) => `secrets/${at}/**`);
    const name = nameOfQuestion(patterns, 'base-0');
    expect(name.length).toBeLessThan(100);
    expect(nameOfQuestion([...patterns], 'base-0')).toBe(name);
    expect(nameOfQuestion(patterns, 'base-1')).not.toBe(name);
    expect(nameOfQuestion([...patterns, 'more'], 'base-0')).not.toBe(name);
  });
});
