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

/**
 * Null where a start goes on for so long after the signal: a call of it hangs, and nothing that it began has to be ended in
 * order. A signal that comes after the start has ended arms no timer, which would keep the process.
 */
export async function awaitStart<T>(
  starting: Promise<T>,
  signal: Promise<void>,
  endsWithinMs: number,
): Promise<T | null> {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<null>((resolve) => {
    void signal.then(() => {
      if (!isOver) timer = setTimeout(() => resolve(null), endsWithinMs);
    });
  });
  try {
    return await Promise.race([starting, givenUp]);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

function sayWhy(error: unknown): unknown {
  return error instanceof ConfigError ? error.message : (sayOfDisk(error) ?? error);
}
