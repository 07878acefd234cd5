import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config.ts';
import { openOwn, sayInTheWay } from './own-files.ts';

/** File with an id that changes with each start of the machine; containers show that of the machine. */
const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
/**
 * Folder of the notes. It is not called `served-by`, because an earlier release wrote a file of that name and needs it
 * after a rollback.
 */
const FOLDER_NAME = 'servers';
/** Time between two touches of the own note, in ms. */
const TOUCH_EVERY_MS = 30_000;
/** Silence after which a server counts as dead, with all that it held, in ms. */
const SILENT_MS_MIN = 10 * 60_000;

export interface ServingNote {
  /**
   * Whether the former process served this folder on this machine since the machine started, and no other machine has
   * served it for a while.
   */
  readonly isOwnAlone: boolean;
  stop(): void;
}

/**
 * Notes which machine serves this folder, and since which of its starts, for as long as the process lives. The caller
 * holds the lock of the folder. A copy of the folder counts as another folder. Times are those of the disk, so two
 * machines that share it use one clock.
 * @throws ConfigError where the disk refuses
 */
export function noteServing(folder: string, bootIdFile = BOOT_ID_FILE): ServingNote {
  const name = nameServing(folder, bootIdFile);
  if (name === null) return { isOwnAlone: false, stop: () => {} };
  const notes = join(folder, FOLDER_NAME);
  if (statSync(notes, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new ConfigError(sayInTheWay(FOLDER_NAME, 'folder'));
  return openOwn(FOLDER_NAME, () => keepNote(notes, name));
}

function keepNote(notes: string, name: string): ServingNote {
  mkdirSync(notes, { recursive: true, mode: 0o700 });
  const before = readdirSync(notes);
  const own = join(notes, name);
  const touch = () => writeFileSync(own, '', { mode: 0o600 });
  touch();
  const now = statSync(own).mtimeMs;
  const others = before.filter((other) => other !== name);
  const alive = others.filter((other) => now - touchedAt(join(notes, other)) < SILENT_MS_MIN);
  for (const other of others) if (!alive.includes(other)) rmSync(join(notes, other), { force: true });
  const timer = setInterval(() => touchAgain(touch), TOUCH_EVERY_MS);
  timer.unref();
  return { isOwnAlone: before.includes(name) && alive.length === 0, stop: () => clearInterval(timer) };
}

/** Touches the note, and ignores a disk that is full or away: every other write tells that. */
function touchAgain(touch: () => void): void {
  try {
    touch();
  } catch {
    // The next touch comes soon.
  }
}

/** Time of the last touch of a note, in epoch ms; 0 where it was removed. */
function touchedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function nameServing(folder: string, bootIdFile: string): string | null {
  const bootId = readOrNull(bootIdFile);
  if (bootId === null) return null;
  const { dev, ino } = statSync(folder);
  return createHash('sha256').update(`${bootId.trim()} ${dev}:${ino}`).digest('hex').slice(0, 32);
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
