import { readdirSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Ends each process that serves this file: a service that was killed with `kill -9` left it behind. The caller holds the lock
 * of the folder. Nothing happens where there is no `/proc`.
 *
 * @returns process ids
 */
export function endLeftBehind(dataFile: string): readonly number[] {
  const ended = processIds().filter(
    (pid) => readArguments(pid).includes(dataFile) && isSameFile(pid, resolve(dataFile)),
  );
  for (const pid of ended) kill(pid);
  return ended;
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => Number.isInteger(pid) && pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}

/** Arguments of a process. Empty for one that is over, or that another account owns. */
function readArguments(pid: number): readonly string[] {
  try {
    const [program = '', ...rest] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program.endsWith('/dynoxide') && rest[0] === 'serve' ? rest : [];
  } catch {
    return [];
  }
}

/** Whether a process sees this very file under the path: in a container the path may be that of another file. */
function isSameFile(pid: number, path: string): boolean {
  try {
    const [ours, theirs] = [statSync(path), statSync(`/proc/${pid}/root${path}`)];
    return ours.dev === theirs.dev && ours.ino === theirs.ino;
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
