import { runProgram } from '#core/adapters/system/command-line.ts';
import { ConfigError } from './config.ts';

/** Runs one of the programs of this folder: `runProgram` in its words. */
export function runMain(main: () => Promise<number>, explain: (error: unknown) => unknown = sayWhy): void {
  runProgram(main, explain);
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
