import { execFile } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { run } from './run.ts';

process.exitCode = await run(
  process.argv.slice(2),
  {
    env: process.env,
    cwd: process.cwd(),
    fetch: globalThis.fetch,
    now: Date.now,
    isTerminal: process.stdout.isTTY === true,
    print: (line) => process.stdout.write(`${line}\n`),
    readGit: (args) =>
      // A replaced object has the name of another one.
      promisify(execFile)('git', ['--no-replace-objects', ...args]).then(
        ({ stdout }) => stdout.trim(),
        () => null,
      ),
    sleep: async (ms) => void (await sleep(ms)),
  },
  () => text(process.stdin),
  (line) => process.stderr.write(line.startsWith('{') ? `${line}\n` : `mergeyard: ${line}\n`),
);
