import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Time between two looks, in ms. It is short because each write after a removal is lost; a look is a few system calls.
 */
const LOOK_EVERY_MS = 5_000;

export interface FolderWatch {
  /** Resolves with the reason once the folder, or a file that is held open in it, is gone or replaced. */
  readonly whenGone: Promise<string>;
  /** Looks now. False stays false: what this process writes then reaches no file that has a name. */
  isThere(): boolean;
  stop(): void;
}

/**
 * Watches that the folder and the files of these names are still those that this process began with: a file that was removed
 * takes every write all the same, and loses it with the process.
 */
export function watchFolder(folder: string, names: readonly string[], everyMs = LOOK_EVERY_MS): FolderWatch {
  const paths = [folder, ...names.map((name) => join(folder, name))];
  const before = paths.map(nameFile);
  let isGone = false;
  let tell: (reason: string) => void = () => {};
  const whenGone = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const isThere = (): boolean => {
    const changed = paths.find((path, index) => isAnother(path, before[index] ?? null));
    if (changed !== undefined) {
      isGone = true;
      tell(sayGone(changed));
    }
    return !isGone;
  };
  const timer = setInterval(isThere, everyMs);
  timer.unref();
  return { whenGone, isThere, stop: () => clearInterval(timer) };
}

const sayGone = (path: string): string =>
  `${path} was removed or replaced while this process served it, and what it writes now is lost. Put the data folder back from its last copy, and start again.`;

function isAnother(path: string, before: string | null): boolean {
  try {
    return nameFile(path) !== before;
  } catch {
    // A disk that gives no answer says nothing of what is on it.
    return false;
  }
}

/** Identity of a file (device and inode); null: there is none. */
function nameFile(path: string): string | null {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
