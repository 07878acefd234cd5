import { listFiles, listSources, readEdges, readSource } from './sources.ts';

const FOLDERS = ['bin', 'cli', 'core', 'dashboard', 'engine-container', 'lambdas', 'lib', 'local', 'onebox'];
const LINES_MAX = 350;
const FOLDER_FILES_MAX = 42;

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
  expect(files.filter((path) => readSource(path).trimEnd().split('\n').length > LINES_MAX)).toEqual([]);
});

test(`no folder of the product has more than ${FOLDER_FILES_MAX} files`, () => {
  const counts = new Map<string, number>();
  for (const folder of files.map((path) => path.slice(0, path.lastIndexOf('/'))))
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > FOLDER_FILES_MAX)).toEqual([]);
});

/** Constants with their unit behind `_MIN` or `_MAX`. */
const UNIT_LAST =
  /(?<=\bconst )[A-Z][A-Z0-9_]*_(?:MIN|MAX)_(?:MS|S|SECONDS|MINUTES|HOURS|DAYS|BYTES|CHARS|LINES|ROWS)\b/g;
test.each([
  ['export const WAIT_MAX_MS = 1;', ['WAIT_MAX_MS']],
  ['export const WAIT_MS_MAX = 1;', []],
])('the limits of %j that end in their unit: %j', (source, found) => {
  expect(source.match(UNIT_LAST) ?? []).toEqual(found);
});

test('a limit ends in its unit, then in MIN or MAX', () => {
  const found = files.flatMap((path) => readSource(path).match(UNIT_LAST) ?? []);
  expect(found).toEqual([]);
});

/** A literal that is spread into another object or list only packs lines: its parts can stand there themselves. */
const PACKED = /\.\.\.\{|\.\.\.\[[^\]]*\],?\n/;

test.each([
  ['{ ...{ a, b }, c }', true],
  ["[\n  ...['a', 'b'],\n]", true],
  ['{ ...rest, ...(a === null ? {} : { a }) }', false],
  ["[...['a', 'b'].map(wordOf)]", false],
])('%j packs lines: %s', (source, packs) => {
  expect(PACKED.test(source)).toBe(packs);
});

test('no code spreads a literal into an object or a list', () => {
  const sources = [...files, ...listSources('test')].filter((path) => !path.endsWith('shape.test.ts'));
  expect(sources.filter((path) => PACKED.test(readSource(path)))).toEqual([]);
});

/** Places where such a word means something else: another trade, or a stored name that stays as it is. */
const OTHER_MEANINGS: Readonly<Record<string, RegExp>> = {
  cleared: /^lambdas\/api\//,
  lane: /^(dashboard|local)\//,
  onto: /^dashboard\//,
  outbox: /^local\//,
  revoke: /^dashboard\//,
  strike: /^(core\/services|local)\//,
};
/** Words that are looked for in texts too: a colour tells a reader no outcome. */
const COLOURS = ['red', 'green'];
/** A reason of the contract and of stored rows, and its alarm. */
const STORED_REASON = /\b(?:base_red|BaseRed)\b/g;
const STORED_NAMES = [
  'engine-container/src/stored-record/record-codec.ts',
  'engine-container/src/stored-record/record-migrations.ts',
  'engine-container/src/stored-record/record-names.ts',
  'engine-container/src/stored-record/unknown-reasons.ts',
];

const withoutTexts = (source: string): string => source.replace(/'(?:[^'\\\n]|\\.)*'/g, "''");

/** Identifiers are taken apart, plurals are one with the singular. */
function wordsOf(source: string): ReadonlySet<string> {
  const words = new Set(
    source
      .replace(STORED_REASON, '')
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]+/g),
  );
  return new Set([...words].flatMap((word) => [word, word.replace(/s$/, '')]));
}

test('words are found in comments and inside of identifiers', () => {
  expect(wordsOf("/** Screens. */ const openScreens = 'doubt'; const STRIKES_MAX = 1;")).toEqual(
    new Set(['screens', 'screen', 'const', 'open', 'doubt', 'strikes', 'strike', 'max']),
  );
  expect(wordsOf(withoutTexts("const word = 'doubt';"))).toEqual(new Set(['const', 'word']));
  expect(wordsOf("raise('base_red'); // a red base")).toEqual(new Set(['raise', 'a', 'red', 'base']));
});

test('no code of the product uses a word that the glossary has given up', () => {
  const [, section = ''] = readSource('docs/glossary.md').split('## Words that are gone');
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| ([a-z]+) +\|/gm)];
  const gone = rows.map(([, word = '']) => word).filter((word) => word !== 'gone');
  expect(gone.length).toBeGreaterThan(0);
  const used = files
    .filter((file) => !STORED_NAMES.includes(file))
    .flatMap((file) => {
      const source = readSource(file);
      const [words, wordsOfCode] = [wordsOf(source), wordsOf(withoutTexts(source))];
      return gone
        .filter((word) => (COLOURS.includes(word) ? words : wordsOfCode).has(word))
        .filter((word) => OTHER_MEANINGS[word]?.test(file) !== true)
        .map((word) => `${file}: ${word}`);
    });
  expect(used).toEqual([]);
});

/** Subjects without a name, and two inversions: a reader has to guess who acts. A mention of a chat is a fixed name. */
const GUESSED =
  /(?<!@)\b(?:(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)(?:body|one)|[Ww]hoever|[Nn]o one)\b|\bNothing of\b|\b(?:Never|Nor|Seldom|Rarely) (?:do|does|did|is|are|was|were|can|may|must|has|have|will)\b/;
/** The account of git without a name, and a place-holder of a path. */
const GUESSED_NAMES = /'nobody(?:@localhost|\/nothing)?'/;
const TEXTS = [...files, ...listSources('test'), ...listFiles().filter((path) => /\.(?:md|txt)$/.test(path))];

test.each([
  ['Somebody pushed.', true],
  ['whoever asks', true],
  ['No one is told.', true],
  ['Never does the queue merge.', true],
  ["kind: 'nobody'", true],
  ['No account may push. The queue never merges.', false],
  ['@everyone', false],
])('the subject of "%s" has to be guessed: %s', (text, guessed) => {
  expect(GUESSED.test(text)).toBe(guessed);
});

/** A clause as subject: a tired reader parses it twice before the sentence begins. */
const RIDDLE = /\/\*\*(?:\s+\*)? +What\s[^\n]*/g;

test('a docstring whose subject is a clause is found on its first line', () => {
  const found = (source: string) => source.match(RIDDLE)?.length ?? 0;
  expect(found('/** What was bought. */')).toBe(1);
  expect(found('  /**\n   * What was bought,\n   * and by whom.\n   */')).toBe(1);
  expect(found('/** The purchase: what was bought.\n * What follows is kept. */')).toBe(0);
});

test('docstrings of the product begin with a noun, not with "What"', () => {
  expect(
    files.flatMap((file) => [...readSource(file).matchAll(RIDDLE)].map(([line]) => `${file}: ${line}`)),
  ).toEqual([]);
});

test('comments, errors, pages, tests and documents name who acts', () => {
  expect(TEXTS.filter((path) => path.endsWith('.md')).length).toBeGreaterThan(150);
  const found = TEXTS.filter((path) => path !== 'test/architecture/shape.test.ts').flatMap((path) =>
    readSource(path)
      .split('\n')
      .flatMap((line, index) =>
        GUESSED.test(line.replace(GUESSED_NAMES, '')) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
  expect(found).toEqual([]);
});
