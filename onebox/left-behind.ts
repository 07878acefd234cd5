import { readdirSync, readFileSync, statSync } from 'node:fs';

/**
 * Ends each database that serves this file, under whatever path: a service that was killed with `kill -9` left it behind.
 * The caller holds the lock of the folder. Nothing happens where there is no `/proc`.
 *
 * @returns process ids
 */
export function endLeftBehind(dataFile: string): readonly number[] {
  const own = nameFile(dataFile);
  const ended = processIds().filter((pid) => own !== null && isDatabase(pid) && listOpen(pid).includes(own));
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

/** Whether a process is an embedded database. False for one that is over, or that another account owns. */
function isDatabase(pid: number): boolean {
  try {
    const [program = '', command] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program.endsWith('/dynoxide') && command === 'serve';
  } catch {
    return false;
  }
}

/**
 * Files that a process holds open, by device and inode. Its path says less: the folder may have been named by a link, or
 * moved since, and in a container the path may be that of another file.
 */
function listOpen(pid: number): readonly (string | null)[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((descriptor) => nameFile(`/proc/${pid}/fd/${descriptor}`));
  } catch {
    return [];
  }
}

/** Identity of a file (device and inode); null: there is none. */
function nameFile(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
