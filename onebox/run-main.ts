import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ConfigError } from './config.ts';

/** A call that a program does not understand. Its message ends with how the program is called. */
class Misuse extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<O extends Options> = ReturnType<typeof parseArgs<{ readonly options: O }>>['values'];

/** The options of the command line. An unknown one ends the program with its name and the usage. */
export function readOptions<O extends Options>(options: O, usage: string): Values<O> {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The first sentence names the option; the others tell of positional arguments, which no program here takes.
    const [first = ''] = error.message.split(/\.(?:\s|$)|\n/);
    throw new Misuse(`${first}.\n\n${usage}`);
  }
}

/**
 * Runs one of the programs of this folder: its answer is the exit code. A failure is told on standard error with code 1, and a
 * call that is not understood with code 2.
 */
export function runMain(main: () => Promise<number>, explain: (error: unknown) => unknown = sayWhy): void {
  main().then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      const isMisuse = error instanceof Misuse;
      console.error(isMisuse ? error.message : explain(error));
      process.exitCode = isMisuse ? 2 : 1;
    },
  );
}

/** One sentence where the disk refuses a file or a folder; null: the error is another one. */
export function sayOfDisk(error: unknown): string | null {
  const isOfDisk = error instanceof Error && 'syscall' in error && 'path' in error;
  return isOfDisk
    ? `It stopped: ${error.message}. Check that path, its rights, and the space on its disk.`
    : null;
}

function sayWhy(error: unknown): unknown {
  return error instanceof ConfigError ? error.message : (sayOfDisk(error) ?? error);
}
