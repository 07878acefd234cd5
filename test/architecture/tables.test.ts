import { policyOf } from '../../engine-container/src/queue/policy/policy.ts';
import { BUNDLE_ENTRIES } from '../../lib/functions.ts';
import { ALLOWED, type Layer, layerOf, SCANNED } from './layers.ts';
import { listSources, readSource } from './sources.ts';

type Row = readonly string[];

/** Rows of the first table of a section of a document, without its head. */
function rowsOf(heading: string, document = 'ARCHITECTURE.md'): readonly Row[] {
  const [, section = ''] = readSource(document).split(`# ${heading}\n`);
  const lines = section.split(/\n##+ /)[0]?.match(/^\|.*\|$/gm) ?? [];
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const namesIn = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

test('the table of rights names each deployed function once, and no other', () => {
  const named = rowsOf('Why the functions are split').flatMap(([cell]) => namesIn(cell));
  const deployed = Object.keys(BUNDLE_ENTRIES);
  const matching = (name: string): readonly string[] => {
    const pattern = new RegExp(`^${name.replace('*', '[a-z]+')}$`);
    const found = deployed.filter((each) => pattern.test(each));
    return found.length === 0 ? [`${name} is not deployed`] : found;
  };
  expect(named.flatMap(matching).sort()).toEqual([...deployed].sort());
});

const FOLDER_TABLES = [
  ['ARCHITECTURE.md', 'Services by concern', 'core/services'],
  ['core/README.md', 'Folders of `domain`', 'core/domain'],
  ['core/README.md', 'Folders of `contracts`', 'core/contracts'],
  ['core/adapters/dynamo/README.md', 'Folders', 'core/adapters/dynamo'],
  ['engine-container/README.md', 'Folders of `src`', 'engine-container/src'],
  ['engine-container/README.md', 'Folders of `src/queue`', 'engine-container/src/queue'],
  ['dashboard/README.md', 'Folders of `parts`', 'dashboard/parts'],
  ['test/README.md', 'Folders of `scenario`', 'test/scenario'],
] as const;

test.each(FOLDER_TABLES)(
  '%s, %s: each folder of %s has one row, and no other',
  (document, heading, folder) => {
    const named = rowsOf(heading, document).flatMap(([cell]) => namesIn(cell));
    const below = listSources(folder).map((path) => path.slice(folder.length + 1).split('/'));
    const folders = new Set(below.flatMap(([first = '', ...rest]) => (rest.length > 0 ? [first] : [])));
    expect([...named].sort()).toEqual([...folders].sort());
  },
);

describe('the table of layers', () => {
  /** Layers of files of the project; all others are packages. */
  const OWN: readonly Layer[] = [...(Object.keys(ALLOWED) as Layer[]), 'words of the page'];
  const say = (layers: readonly Layer[]): string => (layers.length === 0 ? '-' : layers.join(', '));
  const rows = rowsOf('Layers');

  test('each layer has one row, which says what its files may import', () => {
    const expected = (Object.entries(ALLOWED) as [Layer, readonly Layer[]][]).map(([layer, allowed]) => [
      layer,
      say(allowed.filter((each) => OWN.includes(each))),
      say(allowed.filter((each) => !OWN.includes(each))),
    ]);
    expect(rows.map(([, ...cells]) => cells)).toEqual(expected);
  });

  test('the longest path of the table that a file is under is of the layer of the file', () => {
    const paths = rows.flatMap(([cell, layer]) => namesIn(cell).map((path) => ({ path, layer })));
    const holds = (path: string, file: string): boolean => file === path || file.startsWith(`${path}/`);
    const wrong = SCANNED.flatMap(listSources).filter((file) => {
      const [found] = paths
        .filter(({ path }) => holds(path, file))
        .sort((a, b) => b.path.length - a.path.length);
      return found?.layer !== layerOf(file);
    });
    expect(wrong).toEqual([]);
  });
});

test('the table of the speculation policy has the numbers that the engine goes by', () => {
  const rows = [...readSource('engine-container/README.md').matchAll(/^\| +(1|4|8|16) (\|.*)\|$/gm)];
  const shown = rows.map(([, fanout, cells = '']) => [Number(fanout), ...cellsOf(cells)]);
  const expected = [1, 4, 8, 16].map((fanout) => {
    const { depth, passChance, aheadChance, cuts, rerunChance, promptPlaces } = policyOf(fanout);
    // With one slot a batch has the size of that, and nothing is built ahead.
    const ahead = fanout === 1 ? ['one-slot size', '-'] : [String(passChance), String(aheadChance)];
    return [fanout, String(depth), ...ahead, String(cuts), String(rerunChance), String(promptPlaces)];
  });
  expect(shown).toEqual(expected);
});

const cellsOf = (cells: string): readonly string[] =>
  cells
    .split('|')
    .slice(1)
    .map((cell) => cell.trim());
