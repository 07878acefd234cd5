import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The usage of a program, shown for `--help` or behind the message about a call that was not understood. */
class UsageShown extends Error {
  readonly exitCode: 0 | 2;

  constructor(message: string, exitCode: 0 | 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

type Options = NonNullable<ParseArgsConfig['options']>;
interface Read<O extends Options> {
  readonly values: ReturnType<typeof parseArgs<{ readonly options: O }>>['values'];
  readonly positionals: readonly string[];
}

/**
 * The command line of an operator's program. One that is not understood, and `--help`, end the program with its usage:
 * `runProgram` tells it.
 *
 * @param allowPositionals - Whether the program takes words that are no options. @default false
 */
export function readCommandLine<O extends Options>(
  options: O,
  usage: string,
  allowPositionals = false,
): Read<O> {
  if (process.argv.slice(2).includes('--help')) throw new UsageShown(usage, 0);
  try {
    return parseArgs({ options, allowPositionals });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The first sentence names the option; the others tell of positional arguments.
    const [first = ''] = error.message.split(/\.(?:\s|$)|\n/);
    throw new UsageShown(`${first}.\n\n${usage}`, 2);
  }
}

/** Refuses a call after its options were read: the program ends with the message, the usage and code 2. */
export function refuseCall(usage: string, message?: string): never {
  throw new UsageShown(message === undefined ? usage : `${message}\n\n${usage}`, 2);
}

const PORT_MAX = 65_535;

/** Reads the value of an option that is a port. The call is refused where it is none. */
export function readPort(option: string, text: string, usage: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : PORT_MAX + 1;
  if (port > PORT_MAX) refuseCall(usage, `${option} takes a port from 0 to ${PORT_MAX}.`);
  return port;
}

/**
 * Runs a program: its answer is the exit code. A failure is told on standard error in the words of `explain`, with
 * `failureCode`; a call that is not understood with its usage and code 2; `--help` on standard output with code 0.
 */
export function runProgram(
  main: () => Promise<number>,
  explain: (error: unknown) => unknown,
  failureCode = 1,
): void {
  main().then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      const shown = error instanceof UsageShown ? error : null;
      if (shown?.exitCode === 0) console.log(shown.message);
      else console.error(shown?.message ?? explain(error));
      process.exitCode = shown?.exitCode ?? failureCode;
    },
  );
}
