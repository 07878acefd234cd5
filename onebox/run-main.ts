import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { runProgram } from '#core/adapters/system/command-line.ts';
import { StoreError } from '#core/ports/store.ts';
import { ConfigError } from './config.ts';
import { sayUnusable } from './database.ts';

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

/** Builds the page into a folder, as `buildDashboard` does. */
type BuildPage = (options: { readonly outDir: string }) => Promise<unknown>;

export interface OwnPage {
  readonly dir: string;
  /** Removes the folder, which is read once, at the start. */
  remove(): void;
}

/**
 * Builds the page into a new folder beside the temporary files of the machine. The data folder is not touched: the
 * caller has no lock of it yet, and what a person has there under the name of the page would be lost.
 * @throws ConfigError where the page cannot be built
 */
export async function buildOwnPage(build: BuildPage, parent = tmpdir()): Promise<OwnPage> {
  let dir: string | null = null;
  const remove = (): void => {
    if (dir !== null) rmSync(dir, { recursive: true, force: true });
  };
  try {
    dir = mkdtempSync(join(parent, 'mergeyard-page-'));
    await build({ outDir: join(dir, 'site') });
    return { dir: join(dir, 'site'), remove };
  } catch (error) {
    remove();
    throw new ConfigError(sayNotBuilt(parent, error));
  }
}

function sayNotBuilt(parent: string, error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return `The page cannot be built in ${parent}: ${first} Check the space and the rights there (TMPDIR names another folder), and that npm ci has ended.`;
}

/** One sentence for an error of the table; null: the error is another one. */
export function sayOfTable(error: unknown): string | null {
  if (error instanceof StoreError) return sayUnusable(error.message);
  // The message about a call that is wrong would quote a row.
  const isOfServer = error instanceof DynamoDBServiceException && error.$fault === 'server';
  return isOfServer ? sayUnusable(error.message) : null;
}

function sayWhy(error: unknown): unknown {
  return error instanceof ConfigError ? error.message : (sayOfDisk(error) ?? sayOfTable(error) ?? error);
}
