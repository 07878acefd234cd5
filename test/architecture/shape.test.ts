import { listSources, readEdges, readSource } from './sources.ts';

const FOLDERS = ['bin', 'core', 'dashboard', 'engine-container', 'lambdas', 'lib', 'local'];
const LINES_MAX = 350;
/** Longer than that, and to be split by idea. */
const TOO_LONG: readonly string[] = ['dashboard/pages/batches.tsx'];

const files = FOLDERS.flatMap(listSources);

/** Files that import each other in a circle, the shortest way round from each of them. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const wayBack = (start: string): readonly string[] | null => {
    const seen = new Set<string>();
    let ways: (readonly string[])[] = [[start]];
    while (ways.length > 0) {
      const longer: (readonly string[])[] = [];
      for (const way of ways) {
        for (const to of imports.get(way.at(-1) ?? '') ?? []) {
          if (to === start) return [...way, start];
          if (seen.has(to)) continue;
          seen.add(to);
          longer.push([...way, to]);
        }
      }
      ways = longer;
    }
    return null;
  };
  return [...imports.keys()].flatMap((start) => wayBack(start)?.join(' -> ') ?? []);
}

test('a circle of imports is found, however long', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
  ]);
  expect(findCircles(imports)).toEqual(['a -> b -> c -> a', 'b -> c -> a -> b', 'c -> a -> b -> c']);
});

test('no files of the product import each other in a circle, types included', () => {
  const imports = new Map(files.map((file) => [file, readEdges(file).map(({ to }) => to)]));
  expect([...imports.values()].flat().length).toBeGreaterThan(1_000);
  expect(findCircles(imports)).toEqual([]);
});

test(`no file of the product is longer than ${LINES_MAX} lines`, () => {
  const long = files.filter((path) => readSource(path).trimEnd().split('\n').length > LINES_MAX);
  expect(long.filter((path) => !TOO_LONG.includes(path))).toEqual([]);
});
