import type { SeededRandom } from '../support/seeded-random.ts';

const NAMES = [
  'load',
  'store',
  'parse',
  'render',
  'open',
  'close',
  'merge',
  'split',
  'find',
  'apply',
] as const;
const NOUNS = ['user', 'order', 'line', 'batch', 'token', 'tree', 'file', 'queue', 'state', 'row'] as const;
export const LANGUAGES = ['go', 'ts', 'markdown', 'yaml', 'table', 'noise'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A source file as people write them: blocks of lines, many of which occur again and again. */
export function draftText(language: Language, random: SeededRandom): string[] {
  const blocks = 1 + random.int(random.chance(0.1) ? 40 : 9);
  const lines = headOf(language, random);
  for (let block = 0; block < blocks; block += 1) lines.push(...draftBlock(language, random));
  return lines;
}

function headOf(language: Language, random: SeededRandom): string[] {
  const nouns = Array.from({ length: random.int(5) }, () => random.pick(NOUNS));
  switch (language) {
    case 'go':
      return ['package main', '', 'import (', ...nouns.map((noun) => `\t"app/${noun}"`), ')', ''];
    case 'ts':
      return [...nouns.map((noun) => `import { ${noun} } from './${noun}.ts';`), ''];
    case 'markdown':
      return ['# Notes', ''];
    case 'yaml':
      return ['on:', '  push:', '', 'jobs:'];
    case 'table':
    case 'noise':
      return [];
  }
}

export function draftBlock(language: Language, random: SeededRandom): string[] {
  const name = random.pick(NAMES);
  const noun = random.pick(NOUNS);
  const steps = Array.from({ length: random.int(6) }, () => draftStep(language, random)).flat();
  switch (language) {
    case 'go':
      return [`func ${name}(${noun} string) error {`, ...steps, '\treturn nil', '}', ''];
    case 'ts':
      return [`export function ${name}(${noun}: string): void {`, ...steps, '}', ''];
    case 'markdown':
      return [`## ${name} ${noun}`, '', ...steps, ''];
    case 'yaml':
      return [`  ${name}-${noun}:`, '    runs-on: docker', '    steps:', ...steps];
    case 'table':
      return Array.from({ length: 1 + random.int(6) }, () => `${random.pick(NAMES)},${random.int(4)}`);
    case 'noise':
      // Few different lines, each very often: where every algorithm has to guess.
      return Array.from({ length: 1 + random.int(30) }, () => random.pick(['}', '', 'x', 'y', '{']));
  }
}

export function draftStep(language: Language, random: SeededRandom): string[] {
  const name = random.pick(NAMES);
  const noun = random.pick(NOUNS);
  switch (language) {
    case 'go':
      return random.pick([
        [`\tif err := ${name}(${noun}); err != nil {`, '\t\treturn err', '\t}'],
        [`\t${noun} := ${name}()`],
        ['\tif err != nil {', '\t\treturn err', '\t}'],
        [''],
        [`\tfor _, each := range ${noun} {`, `\t\t${name}(each)`, '\t}', ''],
      ]);
    case 'ts':
      return random.pick([
        [`  if (${noun} === null) return;`],
        [`  const ${noun} = ${name}(${random.int(9)});`],
        [`  for (const each of ${noun}) {`, `    ${name}(each);`, '  }'],
        [''],
        ['  try {', `    ${name}();`, '  } catch {', '    return;', '  }'],
      ]);
    case 'markdown':
      return random.pick([
        [`- ${name} the ${noun}`],
        [`The ${noun} is what we ${name}.`, ''],
        ['```', `${name} ${noun}`, '```'],
        [`| ${name} | ${noun} |`],
      ]);
    case 'yaml':
      return [`      - run: ${name} ${noun}`];
    case 'table':
      return [`${noun},${random.int(4)}`];
    case 'noise':
      return [random.pick(['}', '', 'x', 'y', '{', 'z'])];
  }
}

/** One side's changes of a text; `hot` is the place that both sides prefer. */
export function editText(
  lines: readonly string[],
  language: Language,
  hot: number,
  random: SeededRandom,
): string[] {
  let edited = [...lines];
  const edits = 1 + random.int(random.chance(0.15) ? 12 : 4);
  for (let edit = 0; edit < edits; edit += 1) edited = editOnce(edited, language, hot, random);
  return edited;
}

function editOnce(lines: string[], language: Language, hot: number, random: SeededRandom): string[] {
  const near = Math.min(lines.length, Math.max(0, hot + random.int(17) - 8));
  const at = random.chance(0.5) ? near : random.int(lines.length + 1);
  const length = random.int(8);
  const before = lines.slice(0, at);
  const after = lines.slice(at);
  const block = lines.slice(at, at + length);
  switch (random.int(12)) {
    case 0:
      return [...before, ...draftBlock(language, random), ...after];
    case 1:
    case 2:
      return [...before, ...draftStep(language, random), ...after];
    case 3:
      return [...before, ...after.slice(length)];
    case 4:
      return [...before, ...after.slice(1)];
    case 5: {
      const rest = [...before, ...after.slice(length)];
      const target = random.int(rest.length + 1);
      return [...rest.slice(0, target), ...block, ...rest.slice(target)];
    }
    case 6: {
      const target = random.int(lines.length + 1);
      return [...lines.slice(0, target), ...block, ...lines.slice(target)];
    }
    case 7:
      return [...before, ...block.map((line) => `  ${line}`), ...after.slice(length)];
    case 8: {
      const [from, to] = [random.pick(NOUNS), random.pick(NOUNS)];
      return lines.map((line) => line.replace(from, to));
    }
    case 9:
      return [...lines, ...draftBlock(language, random)];
    default: {
      const [line = '', ...rest] = after;
      return [...before, `${line}${random.pick([' ', ' // checked', '2', ', nil'])}`, ...rest];
    }
  }
}

/** Lines as a file: one of the usual line ends, and now and then none at the end. */
export function toText(lines: readonly string[], lineEnd: string, endsOpen: boolean): string {
  const text = lines.join(lineEnd);
  return endsOpen || lines.length === 0 ? text : text + lineEnd;
}
