import { isAnyProtected } from '../../../engine-container/src/protected-change.ts';

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
