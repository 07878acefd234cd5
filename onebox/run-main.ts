import { ConfigError } from './config.ts';

/** Runs one of the programs of this folder: its answer is the exit code, and a failure is told on standard error with code 1. */
export function runMain(main: () => Promise<number>, explain: (error: unknown) => unknown = sayWhy): void {
  main().then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      console.error(explain(error));
      process.exitCode = 1;
    },
  );
}

function sayWhy(error: unknown): unknown {
  return error instanceof ConfigError ? error.message : error;
}
