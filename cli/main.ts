import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from './asked.ts';
import { ReaderLeft } from './context.ts';
import { gitReader } from './read-git.ts';
import { run } from './run.ts';

/**
 * How long an address of the service is tried before the next one, in ms. Node gives each but the last a quarter of a
 * second, so that a far service with another address out of reach could not be reached.
 */
const ADDRESS_TRIED_MS = 1_500;
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_TRIED_MS);

const reader = new AbortController();
let isWritten = true;
const complain = (line: string): void => {
  process.stderr.write(line.startsWith('{') ? `${line}\n` : `mergeyard: ${line}\n`);
};

// Without a listener such an error ends the process with a stack, and the code of the command is lost.
process.stderr.on('error', () => {});
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  const isFirst = !reader.signal.aborted;
  reader.abort();
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || !isFirst) return;
  // A full disk: a script must not take the half for the whole.
  isWritten = false;
  process.exitCode = EXIT.refused;
  const step = code === 'ENOSPC' ? 'make room for it, then try again' : 'check the place that it goes to';
  complain(`The output cannot be written (${code ?? 'unknown'}): ${step}.`);
});

/** The working folder; the root where it was deleted, in which there is no repository either. */
function readFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

const folder = readFolder();
const exitCode = await run(
  process.argv.slice(2),
  {
    env: process.env,
    cwd: folder,
    fetch: globalThis.fetch,
    now: Date.now,
    isTerminal: process.stdout.isTTY === true,
    print: (line) => {
      if (!reader.signal.aborted) process.stdout.write(`${line}\n`);
    },
    readGit: gitReader(folder, process.env),
    sleep: async (ms) => {
      await sleep(ms, undefined, { signal: reader.signal }).catch(() => {
        throw new ReaderLeft();
      });
    },
  },
  () => text(process.stdin),
  complain,
);
if (isWritten) process.exitCode = exitCode;
