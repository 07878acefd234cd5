import { runProgram } from '#core/adapters/system/command-line.ts';
import { ConfigError } from './config.ts';

/** Runs a program of this folder with `runProgram`. */
export function runMain(main: () => Promise<number>, explain: (error: unknown) => unknown = sayWhy): void {
  runProgram(main, explain);
}

/** One sentence for an error of the disk (a refused file or folder); null: the error is another one. */
export function sayOfDisk(error: unknown): string | null {
  const isOfDisk = error instanceof Error && 'syscall' in error && 'path' in error;
  return isOfDisk
    ? `It stopped: ${error.message}. Check that path, its rights, and the space on its disk.`
    : null;
}

/**
 * Awaits a start. Null where it is not over `endsWithinMs` after the signal: then a call hangs, and there is nothing to
 * stop in order. A signal after the start arms no timer, which would keep the process alive.
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
