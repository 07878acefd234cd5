import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Argument, type CallExpression, parseSync } from '@swc/core';
import { listFiles } from './sources.ts';

const ROOT = resolve(__dirname, '../..');
const SELF = 'test/architecture/citations.test.ts';

const files = listFiles().filter((path) => /\.(?:tsx?|[cm]js|md|ya?ml)$/.test(path) && path !== SELF);
const texts = new Map(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
const textOf = (path: string): string => texts.get(path) ?? '';

/** Places that cite something, as `file: what`, so that a failure says where to look. */
function findAll(pattern: RegExp, isDefined: (found: RegExpMatchArray, file: string) => boolean): string[] {
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(pattern)]
      .filter((found) => !isDefined(found, file))
      .map((found) => `${file}: ${found[0]}`),
  );
}

const idsOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, id = '']) => id);

const invariants = textOf('docs/invariants.md');
const decisions = textOf('docs/decisions/README.md');

describe('every citation is defined in this repository', () => {
  test('A-numbers stand in docs/invariants.md, each once and none left out', () => {
    const defined = idsOf(invariants, /^- \*\*(A\d+)\*\* /gm);
    expect(defined).toEqual(defined.map((_, index) => `A${index + 1}`));
    expect(findAll(/(?<![\w%'+])A\d{1,3}\b/g, ([id]) => defined.includes(id))).toEqual([]);
  });

  test('D-numbers and numbers of decisions lead to a file of docs/decisions that names them', () => {
    const rows = [...decisions.matchAll(/^\| (D-\d+) +\| \[\d{4}\]\((.+?)\) +\|$/gm)];
    const defined = new Set(rows.map(([, id = '']) => id));
    expect(rows.length).toBe(defined.size);
    expect(rows.filter(([, id = '', file = '']) => !textOf(`docs/decisions/${file}`).includes(id))).toEqual(
      [],
    );
    expect(findAll(/\bD-\d+\b/g, ([id]) => defined.has(id))).toEqual([]);
    const numbers = files
      .filter((path) => path.startsWith('docs/decisions/0'))
      .map((path) => path.slice(15, 19));
    expect(findAll(/\bdecision (\d{4})\b/g, ([, number = '']) => numbers.includes(number))).toEqual([]);
  });

  test('each test that the threat model names is there, by file and title', () => {
    const rows = textOf('docs/security.md').match(/^\|.*`test\/.*$/gm) ?? [];
    const named = rows.flatMap((row) => [...row.matchAll(/`(test\/[\w./-]+)`(?:, "([^"]+)")?/g)]);
    expect(named.length).toBeGreaterThan(15);
    const missing = named.filter(([, path = '', title = '']) => {
      const plain = (text: string): string => text.replaceAll('\\', '');
      return !files.includes(path) || !plain(textOf(path)).includes(title);
    });
    expect(missing.map(([whole]) => whole)).toEqual([]);
  });

  test('every decision is in the index, under a number of its own', () => {
    const listed = idsOf(decisions, /^\| \[\d{4}\]\((\d{4}-[\w-]+\.md)\) +\|/gm);
    const present = files.filter((path) => /^docs\/decisions\/\d/.test(path)).map((path) => path.slice(15));
    expect([...listed].sort()).toEqual([...present].sort());
    expect(new Set(present.map((name) => name.slice(0, 4))).size).toBe(present.length);
  });

  test('E-numbers stand in docs/traps.md', () => {
    const defined = idsOf(textOf('docs/traps.md'), /^- \*\*(E\d+)\*\* /gm);
    expect(findAll(/(?<![\w%'+])E\d{1,3}\b/g, ([id]) => defined.includes(id))).toEqual([]);
  });

  test('headings of the contract and sections of the forge facts exist', () => {
    const headings = idsOf(textOf('docs/contract.md'), /^#+ (.+)$/gm).map((each) => each.toLowerCase());
    const follows = (rest: string): boolean =>
      headings.some((heading) =>
        rest
          .toLowerCase()
          .replace(/\s*\n\s*\*?\s*/g, ' ')
          .startsWith(heading),
      );
    expect(findAll(/\b[Cc]ontract,((?:[^)]|\n){3,60})\)/g, ([, rest = '']) => follows(rest.trim()))).toEqual(
      [],
    );
    const sections = idsOf(textOf('docs/forge-facts.md'), /^#+ (\d+(?:\.\d+)?)\.? /gm);
    expect(
      findAll(/forge facts, (\d+(?:\.\d+)?)/g, ([, section = '']) => sections.includes(section)),
    ).toEqual([]);
  });

  test('links of documents, and documents that are named, lead to files of the repository', () => {
    const links = findAll(/\]\((?!https?:|#)([^)\s#]+)(?:#[^)]*)?\)/g, ([, to = ''], file) =>
      file.endsWith('.md') ? existsSync(join(ROOT, dirname(file), to)) : true,
    );
    expect(links).toEqual([]);
    expect(findAll(/\bdocs\/[\w/-]+\.(?:md|svg|png)\b/g, ([path]) => existsSync(join(ROOT, path)))).toEqual(
      [],
    );
  });

  test('files that documents name exist', () => {
    const named =
      /`((?:core|lambdas|engine-container|lib|bin|dashboard|local|test)\/[\w./-]+\.(?:tsx?|[cm]?js|jsonl?|md|css))`/g;
    expect(
      findAll(named, ([, path = ''], file) => !file.endsWith('.md') || existsSync(join(ROOT, path))),
    ).toEqual([]);
    // A path that begins within a folder, as where the sentence names the folder.
    const within = /`([a-z][\w-]*(?:\/[\w.-]+)*\.tsx?)`/g;
    const isEndOfFile = ([, end = '']: RegExpMatchArray, file: string): boolean =>
      !file.endsWith('.md') || [SELF, ...files].some((path) => `/${path}`.endsWith(`/${end}`));
    expect(findAll(within, isEndOfFile)).toEqual([]);
  });

  test('the README is a page: at most 80 lines', () => {
    expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });

  test('no document outside the repository is cited', () => {
    const outside =
      /\b(?:spec|shared|design)\/\w|\b(?:interface|invariants|decisions|forgejo-api)\.md\b|\bL\d{2,4}\b/g;
    expect(findAll(outside, ([found], file) => isOurs(found, file))).toEqual([]);
  });
});

/** `docs/invariants.md` under its own name, in documents beside it and in the paths of the tests. */
function isOurs(found: string, file: string): boolean {
  return found === 'invariants.md' && (file.startsWith('docs/') || /docs\/invariants\.md/.test(textOf(file)));
}

type Node = { readonly type?: string } & Readonly<Record<string, unknown>>;

/** The name that a call begins with: `test` of `test.each([...])('...', ...)`. */
function rootOf(callee: Node): string {
  if (callee.type === 'Identifier') return String(callee.value);
  const inner = callee.object ?? callee.callee ?? callee.tag ?? callee.expression;
  return inner === undefined ? '' : rootOf(inner as Node);
}

function textOfArgument(argument: Argument | undefined): string | null {
  const expression = argument?.expression;
  if (expression?.type === 'StringLiteral') return expression.value;
  if (expression?.type !== 'TemplateLiteral') return null;
  return expression.quasis.map(({ cooked, raw }) => cooked ?? raw).join('%s');
}

/** Functions whose first argument is the title of a test. */
const TITLED = new Set(['test', 'it', 'describe', 'needs']);
/** Tables whose entries become titles by this property. */
const TABLES: readonly (readonly [RegExp, string])[] = [
  [/^test\/simulation\/mutants\/[\w-]+\.ts$/, 'guard'],
  [/^test\/scenario\/crash-sweep-stories\.ts$/, 'name'],
];

/** They judge the end of every life or story; the name of a function stands for a title. */
const JUDGES: readonly string[] = ['test/simulation/oracle.ts', 'test/scenario/stories.ts'];

function readTitles(file: string): readonly string[] {
  const source = textOf(file);
  if (JUDGES.includes(file)) return idsOf(source, /\bfunction (\w+)\(/g);
  const property = TABLES.find(([path]) => path.test(file))?.[1];
  if (property !== undefined)
    return idsOf(source, new RegExp(`\\b${property}: '((?:[^'\\\\]|\\\\.)*)'`, 'g'));
  const titles: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ((node as Node).type === 'CallExpression') {
      const call = node as unknown as CallExpression;
      const title = textOfArgument(call.arguments[0]);
      if (title !== null && TITLED.has(rootOf(call.callee as unknown as Node))) titles.push(title);
    }
    Object.values(node).forEach(visit);
  };
  visit(parseSync(source, { syntax: 'typescript', tsx: file.endsWith('x') }).body);
  return titles;
}

describe('every invariant is held by a test whose title exists', () => {
  const rules = invariants.split(/^- \*\*(?=A\d+\*\*)/m).slice(1);
  const witnesses = rules.map((rule) => ({
    id: /^A\d+/.exec(rule)?.[0] ?? '',
    tests: [...rule.matchAll(/^ {2}- `(test\/[\w./-]+)`: (.+)$/gm)].map(([, file = '', title = '']) => ({
      file,
      title,
    })),
  }));

  test('each names at least one', () => {
    expect(witnesses.filter(({ tests }) => tests.length === 0).map(({ id }) => id)).toEqual([]);
  });

  test('the file has a test of that title, and is one that is run', () => {
    const titles = new Map<string, readonly string[]>();
    const missing = witnesses.flatMap(({ id, tests }) =>
      tests.flatMap(({ file, title }) => {
        if (!texts.has(file)) return [`${id}: ${file} does not exist`];
        if (!titles.has(file)) titles.set(file, readTitles(file));
        return titles.get(file)?.some((each) => each.includes(title)) ? [] : [`${id}: ${file}: ${title}`];
      }),
    );
    expect(missing).toEqual([]);
    const played = [...titles.keys()].filter((file) => !/\.test\.tsx?$/.test(file) && !isImported(file));
    expect(played).toEqual([]);
  });
});

/** A suite or a table is run by the test files that import it. */
function isImported(file: string): boolean {
  const name = file.split('/').at(-1) ?? file;
  return files.some((other) => {
    const text = textOf(other);
    return (
      other.startsWith('test/') &&
      text.includes(`/${name}'`) &&
      [...text.matchAll(/from '(\.[^']+)'/g)].some(
        ([, to = '']) => relative(ROOT, resolve(ROOT, dirname(other), to)) === file,
      )
    );
  });
}
