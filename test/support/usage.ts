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

/** With `--help` the program says what it takes, and ends before it begins. */
export function answerHelp(usage: Usage, argv: readonly string[] = process.argv): void {
  if (!argv.includes('--help')) return;
  process.stdout.write(`${formatUsage(usage)}\n`);
  process.exit(0);
}

export function endWithUsage(usage: Usage, complaint: string): never {
  process.stderr.write(`${complaint}\n\n${formatUsage(usage)}\n`);
  process.exit(EXIT_MISUSE);
}
