import { writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

const STDOUT_FD = 1;

/**
 * Writes the lines of the log. The reader of a pipe may leave, and a disk may fill up: the service goes on without its log, and
 * says how many lines were lost once lines can be written again.
 *
 * @param writeDirect - For a stream that has failed once, which takes nothing more; its file stays open.
 */
export function createLineWriter(
  stream: Writable = process.stdout,
  writeDirect: (text: string) => void = (text) => writeSync(STDOUT_FD, text),
): (line: string) => void {
  let lost = 0;
  let hasFailed = false;
  stream.on('error', () => {
    hasFailed = true;
    lost += 1;
  });
  return (line) => {
    if (!hasFailed) {
      stream.write(`${line}\n`);
      return;
    }
    try {
      if (lost > 0)
        writeDirect(`${JSON.stringify({ level: 'warn', message: 'log lines were lost', lost })}\n`);
      lost = 0;
      writeDirect(`${line}\n`);
    } catch {
      lost += 1;
    }
  };
}
