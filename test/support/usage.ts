/** What a program of the tests takes on its command line. */
export interface Usage {
  /** Name of its script, as in `npm run NAME`. */
  readonly script: string;
  readonly does: string;
  /** Each option with its value, such as `--seeds N`, and what it says. Empty: it takes none. */
  readonly options: Readonly<Record<string, string>>;
}

/** Of the command line itself, as `sysexits.h` has it. */
const EXIT_MISUSE = 64;

export function formatUsage({ script, does, options }: Usage): string {
  const names = Object.keys(options);
  const width = Math.max(0, ...names.map((name) => name.length));
  const lines = Object.entries(options).map(([name, says]) => `  ${name.padEnd(width)}  ${says}`);
  const call = `npm run ${script}${names.length === 0 ? '' : ' -- [options]'}`;
  return [call, '', does, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n');
}

/** What is wrong with the words of a command line, or null. A value that is named by one letter is a number. */
export function findMisuse({ options }: Usage, words: readonly string[]): string | null {
  const values = new Map<string, string | undefined>();
  for (const key of Object.keys(options)) {
    const [option = '', value] = key.split(' ');
    values.set(option, value);
  }
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!values.has(word)) return `There is no option ${word}.`;
    const named = values.get(word);
    if (named === undefined) continue;
    const value = left.shift();
    if (value === undefined || value.startsWith('--')) return `${word} needs a value: ${word} ${named}.`;
    if (/^[A-Z]$/.test(named) && !/^\d+(\.\d+)?$/.test(value)) return `${word} is a number, not ${value}.`;
  }
  return null;
}

/**
 * With `--help` the program says what it takes. A command line with anything else ends it before it begins: with a
 * mistyped option it would play something else than was asked for, or nothing at all, and end well.
 */
export function checkCall(usage: Usage, argv: readonly string[] = process.argv): void {
  if (argv.includes('--help')) {
    process.stdout.write(`${formatUsage(usage)}\n`);
    process.exit(0);
  }
  const misuse = findMisuse(usage, argv.slice(2));
  if (misuse !== null) endWithUsage(usage, misuse);
}

export function endWithUsage(usage: Usage, complaint: string): never {
  process.stderr.write(`${complaint}\n\n${formatUsage(usage)}\n`);
  process.exit(EXIT_MISUSE);
}
