import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import {
  backportBranch,
  contextForBase,
  DEFAULT_SERVICE_NAME,
  gateFileName,
  probePrefix,
  stagingBranch,
  stagingPattern,
  stagingPrefix,
  workPrefix,
} from '#core/domain/queue/queue-names.ts';

const ROOT = resolve(__dirname, '../..');
const NAMES = 'core/domain/queue/queue-names.ts';
/** The product, the fakes and all scripts. Tests write the names that they expect in full. */
const SOURCE_FOLDERS = [
  'bin',
  'core',
  'dashboard',
  'engine-container',
  'lambdas',
  'lib',
  'local',
  'test/bench',
  'test/browser',
  'test/builders',
  'test/conformance',
  'test/demo',
  'test/fakes',
  'test/load',
  'test/simulation',
  'test/support',
];
/** Logins of people and names of foreign projects may have the letters in them. */
const LITERAL = /(?<![\w-])mq(?!-bot\b)\b/;

function list(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes('node_modules'));
}

const sources = SOURCE_FOLDERS.flatMap((folder) => list(folder, /\.(tsx?|css|html|mjs|cjs)$/)).filter(
  (path) => !/\.test\.ts$/.test(path),
);

test('the name of the queue is written in one file: every other takes it from there', () => {
  expect(sources).toContain(NAMES);
  const found = sources
    .filter((path) => path !== NAMES)
    .flatMap((path) =>
      readFileSync(join(ROOT, path), 'utf8')
        .split('\n')
        .flatMap((line, index) => (LITERAL.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    );
  expect(found).toEqual([]);
});

test('every name of the queue in the documents is one that this file makes', () => {
  const name = DEFAULT_SERVICE_NAME;
  const bases = ['<base>', 'main'];
  const made = new Set([
    name,
    gateFileName(name),
    stagingPattern(name),
    stagingPrefix(name),
    workPrefix(name),
    backportBranch(name, 12, 'v15'),
    `${stagingPrefix(name)}…`,
    `${workPrefix(name)}…`,
    ...bases.flatMap((base) => [
      stagingBranch(name, base),
      `${stagingBranch(name, base)}-<run8>-<node>`,
      `${stagingBranch(name, base)}/x`,
      `${probePrefix(name, base)}…`,
      contextForBase(name, base),
    ]),
  ]);
  const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'engine-container/README.md'].concat(
    list('docs', /\.md$/),
  );
  const told = documents.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/`((?<![\w-])mq(?!-bot\b)\b[^`\s]*)`/g)].map(
      (match) => [path, match[1] ?? ''] as const,
    ),
  );
  expect(told.length).toBeGreaterThan(10);
  expect(told.filter(([, text]) => !made.has(text))).toEqual([]);
});
