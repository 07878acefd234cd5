import { execFile } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ReaderLeft } from './context.ts';
import { run } from './run.ts';

const reader = new AbortController();
// Without a listener such an error ends the process with a stack, and the code of the command is lost.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    if (stream === process.stdout) reader.abort();
  });

process.exitCode = await run(
  process.argv.slice(2),
  {
    env: process.env,
    cwd: process.cwd(),
    fetch: globalThis.fetch,
    now: Date.now,
    isTerminal: process.stdout.isTTY === true,
    print: (line) => {
      if (!reader.signal.aborted) process.stdout.write(`${line}\n`);
    },
    readGit: (args) =>
      // A replaced object has the name of another one.
      promisify(execFile)('git', ['--no-replace-objects', ...args]).then(
        ({ stdout }) => stdout.trim(),
        () => null,
      ),
    sleep: async (ms) => {
      await sleep(ms, undefined, { signal: reader.signal }).catch(() => {
        throw new ReaderLeft();
      });
    },
  },
  () => text(process.stdin),
  (line) => process.stderr.write(line.startsWith('{') ? `${line}\n` : `mergeyard: ${line}\n`),
);
