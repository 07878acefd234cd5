import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** File systems that know no flush of a folder say so. */
const NO_FLUSH: readonly (string | undefined)[] = ['EINVAL', 'ENOTSUP'];

/**
 * Writes a file that its owner alone may read: whole or not at all, also where the power fails. Without the flush before it the
 * rename may be on the disk before the text is, which leaves an empty file; without the one after it, the text of before.
 */
export function replaceFile(file: string, text: string): void {
  const next = `${file}.next`;
  try {
    const descriptor = openSync(next, 'w', 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
  flushFolder(dirname(file));
}

/** Flushes the names in a folder: one that is made or changed may be lost with the power until then. */
export function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!NO_FLUSH.includes((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Overwrites the file in place, which needs no space on a full disk where the text is shorter. A process that dies
 * meanwhile leaves a damaged file. False: it was not written.
 */
export function overwriteFile(file: string, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    const descriptor = openSync(file, 'r+');
    try {
      if (bytes.length > fstatSync(descriptor).size) return false;
      writeSync(descriptor, bytes, 0, bytes.length, 0);
      ftruncateSync(descriptor, bytes.length);
      fsyncSync(descriptor);
      return true;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}
