import { parseSync } from '@swc/core';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { listSources, readSource } from './sources.ts';

/** Where texts stand that people see: pages, statuses, mails, chats, errors, terminals. Logs of operators are not of them. */
const SEEN = ['dashboard', 'cli', 'core/contracts', 'core/domain', 'lambdas/public', 'local/demo', 'onebox'];
const OTHERS = ['engine-container/src/queue/words/phrases.ts'];
/** Here a text that begins with a small letter is a line of the log. */
const WITH_LOGS = ['core/services', 'lambdas/forge-ops', 'lambdas/api'];

/** Attributes that no person reads. */
const SILENT = new Set([
  'className',
  'id',
  'to',
  'href',
  'type',
  'rel',
  'd',
  'viewBox',
  'points',
  'autoComplete',
]);

interface Text {
  readonly file: string;
  readonly says: string;
}

/** Every text of a source that has two words: strings, templates with `{}` for each value, and words of a page. */
function textsOf(source: string, isPage: boolean): readonly string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (typeof node !== 'object' || node === null) return;
    const { type, value, quasis, name } = node as Record<string, unknown>;
    if (
      typeof type === 'string' &&
      /^(?:Import|Export(?:Named|All)|Ts(?!As|Const|Satisfies|NonNull))/.test(type)
    )
      return;
    if (type === 'JSXAttribute' && SILENT.has(String((name as { value?: unknown }).value))) return;
    if ((type === 'StringLiteral' || type === 'JSXText') && typeof value === 'string') found.push(value);
    if (type === 'TemplateLiteral')
      found.push((quasis as { cooked: string | null }[]).map(({ cooked }) => cooked ?? '').join('{}'));
    for (const [key, child] of Object.entries(node)) if (key !== 'span') walk(child);
  };
  walk(parseSync(source, { syntax: 'typescript', tsx: isPage }).body);
  return found
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter((text) => /\p{L}/u.test(text) && !/^[A-Z]+ \//.test(text));
}

const listTexts = (files: readonly string[]): readonly Text[] =>
  files.flatMap((file) => textsOf(readSource(file), file.endsWith('x')).map((says) => ({ file, says })));

const isSentence = ({ says }: Text): boolean => /\p{L}{2,}[,;:.)]? [\p{L}{("]/u.test(says);
const texts = [
  ...listTexts([...SEEN.flatMap(listSources), ...OTHERS]),
  ...listTexts(WITH_LOGS.flatMap(listSources)).filter(({ says }) => /^\p{Lu}/u.test(says)),
];

/** Texts for those who run a deployment or change the program, who know the words of its inside. */
const FOR_OPERATORS: Readonly<Record<string, RegExp>> = {
  lease: /^(?:dashboard\/pages\/admin|local\/demo\/main)/,
  // The runtime.
  node: /^local\/demo/,
};

interface Unwanted {
  readonly words: string;
  readonly instead: string;
}

function readUnwanted(glossary: string): readonly Unwanted[] {
  const [, section = ''] = glossary.split('## Words that texts for people do not use');
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| [^-]/.test(line));
  return rows.slice(1).flatMap((row) => {
    const [, words = '', instead = ''] = row.split('|').map((cell) => cell.trim());
    return words.split(', ').map((each) => ({ words: each, instead }));
  });
}

const unwanted = readUnwanted(readSource('docs/glossary.md'));

function findUnwanted(shown: readonly Text[]): readonly string[] {
  return unwanted.flatMap(({ words, instead }) => {
    const pattern = new RegExp(`\\b${words}s?\\b`, 'i');
    return shown
      .filter(({ file, says }) => pattern.test(says) && FOR_OPERATORS[words]?.test(file) !== true)
      .map(({ file, says }) => `${file}: "${says}" has "${words}": say ${instead}`);
  });
}

test('texts of a value whose type is asserted are found', () => {
  expect(textsOf("const a = { b: 'one two' } as const satisfies C; const d = 'three' as E;", false)).toEqual([
    'one two',
    'three',
  ]);
});

test('texts are found in strings, templates and pages, and not in attributes, types and imports', () => {
  const source =
    "import a from 'a node'; type B = 'a node'; const c = <p className=\"a node\" title=\"one lease\">two {d} <b>three</b></p>; const e = `four VALUE five`; const g = 'six seven';".replace(
      'VALUE',
      ['$', 'f}'].join('{'),
    );
  expect(textsOf(source, true)).toEqual(['one lease', 'two', 'three', 'four {} five', 'six seven']);
});

test('a word of the list is found in any form, and named with what to say', () => {
  expect(unwanted.length).toBeGreaterThan(10);
  const found = findUnwanted([{ file: 'x.ts', says: 'Split into two Nodes below' }]);
  expect(found).toEqual(['x.ts: "Split into two Nodes below" has "node": say part of a batch']);
  expect(findUnwanted([{ file: 'x.ts', says: 'A denoted place, setup and all' }])).toEqual([]);
});

test('no text that people see uses a word of the list in the glossary', () => {
  expect(texts.filter(isSentence).length).toBeGreaterThan(1_200);
  expect(findUnwanted(texts.filter((text) => isSentence(text) || /^\p{Lu}/u.test(text.says)))).toEqual([]);
});

/** As Forgejo and Gitea show them in English. */
const OF_FORGE = ['Auto merge when all checks succeed', 'Cancel auto merge', 'Update branch by merge'];

test('a step that names a button or a field names one that the page or the forge has', () => {
  const onPage = new Set(listTexts(listSources('dashboard')).map(({ says }) => says));
  const steps = [...texts.map(({ says }) => says), ...Object.values(PULL_CODES).map(({ next }) => next)];
  const named = steps.flatMap((says) =>
    [...says.matchAll(/(?:[Pp]ress|[Cc]hoose|[Uu]nder) "([^"{]+)"/g)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(15);
  const known = (name: string) =>
    OF_FORGE.includes(name) ||
    [...onPage].some((text) => text === name || text.startsWith(`${name}:`) || text.startsWith(`${name},`));
  expect(named.filter((name) => !known(name))).toEqual([]);
});
