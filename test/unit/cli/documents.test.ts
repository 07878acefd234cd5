import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../../cli/asked.ts';
import { NAMING } from '../../../cli/command-row.ts';
import { COMMAND_TABLE } from '../../../cli/command-table.ts';
import { SETTINGS_ACTIONS } from '../../../cli/settings.ts';

const ROOT = join(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const cli = read('docs/cli.md');
const agents = read('docs/agents.md');
const PAGES = ['docs/cli.md', 'docs/agents.md', 'docs/settings-file.md', 'docs/evidence.md', 'README.md'];

const commands = COMMAND_TABLE.map(({ spec }) => spec.split(' ')[0] ?? '');
const flags = [...COMMAND_TABLE.flatMap(({ options = [] }) => options), ...NAMING].map(
  (option) => option.flags.split(' ')[0] ?? '',
);
/** Made by the libraries below the table. */
const OF_LIBRARIES = ['complete', '--help', '--version', '--json', '--quiet'];

describe('the page of the command line', () => {
  test.each([...commands])('says what %s is', (name) => {
    expect(cli).toMatch(new RegExp(`\`(?:mergeyard )?${name}\\b|mergeyard ${name}\\b`));
  });

  test.each([...new Set(flags)])('names %s', (flag) => {
    expect([cli, agents].join('\n')).toMatch(new RegExp(`${flag}\\b`));
  });

  test('has each exit code, and no other', () => {
    const table = cli.split('| exit code |')[1] ?? '';
    const told = [...table.matchAll(/^\| (\d+) /gm)].map(([, code]) => Number(code));
    expect(told).toEqual(Object.values(EXIT));
  });
});

describe('a call that a document shows', () => {
  const calls = PAGES.flatMap((page) =>
    [...read(page).matchAll(/mergeyard ((?:--)?[a-z][a-z-]*)([^`\n&|]*)/g)]
      .filter(([whole]) => !whole.startsWith('mergeyard mcp", '))
      .map(([, name = '', rest = '']) => ({ page, name, rest })),
  ).filter(({ name, rest }) => commands.includes(name) || /^ (?:--|[\d<])|^$/.test(rest));

  test('names a command that there is', () => {
    const unknown = calls.filter(({ name }) => ![...commands, ...OF_LIBRARIES].includes(name));
    expect(calls.length).toBeGreaterThan(40);
    expect(unknown).toEqual([]);
  });

  test('has flags that the command takes', () => {
    const wrong = calls.flatMap(({ page, name, rest }) => {
      const { options = [], needs } = COMMAND_TABLE.find(({ spec }) => spec.split(' ')[0] === name) ?? {};
      const own = [...options, ...(needs === 'repository' ? NAMING : [])].map((each) => each.flags);
      return [...rest.matchAll(/--[a-z][a-z-]*/g)]
        .filter(([flag]) => ![...OF_LIBRARIES, ...own.map((each) => each.split(' ')[0])].includes(flag))
        .map(([flag]) => `${page}: ${name} ${flag}`);
    });
    expect(wrong).toEqual([]);
  });

  test('of settings names an action that there is', () => {
    const actions = calls
      .filter(({ name }) => name === 'settings')
      .map(({ rest }) => rest.trim().split(' ')[0]);
    expect(new Set(actions)).toEqual(new Set(SETTINGS_ACTIONS));
  });
});

describe('the page for agents', () => {
  const source = read('cli/tools.ts');

  test('has a row for each tool', () => {
    const made = [...source.matchAll(/registerTool\(\s*'(\w+)'/g)].map(([, name]) => name);
    const rows = [...agents.matchAll(/^\| ((?:`\w+`(?:, )?)+) +\|/gm)].map(([, cell = '']) => cell);
    expect(rows.join().match(/\w+/g)?.toSorted()).toEqual(made.toSorted());
  });

  test('says how long a wait is that names no time', () => {
    const [, seconds] = /WAIT_SECONDS_DEFAULT = (\d+)/.exec(source) ?? [];
    expect(agents).toContain(`(${seconds} if not given)`);
  });

  test('has each word with which a wait ends', () => {
    const words = /const WAITED = \{([^}]+)\}/.exec(source)?.[1]?.match(/'\w+'/g) ?? [];
    expect(words).toHaveLength(4);
    for (const word of words) expect(agents).toContain(word.replaceAll("'", '`'));
  });
});

/** Constants that no other module reads, by their source; the value is a number of this file. */
const NUMBERS: readonly (readonly [
  page: string,
  words: string,
  file: string,
  name: string,
  value: number,
])[] = [
  ['docs/cli.md', 'gives it three minutes for that', 'cli/commands.ts', 'FIRST_LOOK_MS_MAX', 180_000],
  ['docs/cli.md', 'once it has stood for 40 seconds', 'cli/commands.ts', 'FAULT_STANDS_MS', 40_000],
  ['docs/cli.md', 'as the time ends has two seconds', 'cli/reach.ts', 'LAST_ANSWER_MS', 2_000],
  ['docs/cli.md', 'draws a terminal anew every five seconds', 'cli/watch.ts', 'POLL_MS', 5_000],
  ['docs/cli.md', 'up to 1,000 with `--limit COUNT`', 'cli/log.ts', 'LOG_EVENTS_MAX', 1_000],
  ['docs/cli.md', '`log` asks 40 times at most', 'cli/log.ts', 'LOG_CALLS_MAX', 40],
  ['docs/agents.md', 'answered first, for a minute at most', 'cli/tools.ts', 'LAST_ANSWERS_MS_MAX', 60_000],
];

test.each(NUMBERS)('%s, "%s": %s has %s', (page, words, file, name, value) => {
  const [, digits = ''] = new RegExp(`const ${name} = ([\\d_]+);`).exec(read(file)) ?? [];
  expect(read(page)).toContain(words);
  expect(Number(digits.replaceAll('_', ''))).toBe(value);
});

test('the page says how long wait waits that names no time', () => {
  expect(read('cli/command-table.ts')).toContain("options.timeout ?? '30m'");
  expect(cli).toContain('`wait` gives up after 30 minutes');
});
