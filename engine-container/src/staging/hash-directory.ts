import { createHash } from 'node:crypto';
import { Pace } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import {
  type Computation,
  type Directory,
  type DirectoryEntry,
  isDirectory,
  type ObjectFormat,
  TURN,
} from './objects.ts';
import { comparePaths } from './path-change.ts';
import { sortInTurns } from './sort-in-turns.ts';

/** Entries of a directory that are hashed between two looks at whether others are due, and the steps of one. */
const HASHED_AT_ONCE = 1_000;
const HASH_STEPS = 25;
const HASHED_BYTES_PER_STEP = 16;

/**
 * The id git gives a directory with these entries, in whatever order they come. A stranger's directory has as many entries as are read
 * at all: all others have turns meanwhile.
 */
export function* hashDirectory(
  entries: Directory,
  format: ObjectFormat,
  encodeName: (name: string) => Buffer = (name) => Buffer.from(name),
): Computation<TreeHash> {
  const pace = new Pace();
  const sorted = yield* sortEntries(entries);
  let length = 0;
  for (const { mode, name, id } of sorted) {
    length += modeOf(mode).length + encodeName(name).length + 1 + id.length / 2;
    pace.walk(HASH_STEPS);
    if (pace.isTurnDue()) yield TURN;
  }
  const hash = createHash(format).update(`tree ${length}\0`);
  for (let at = 0; at < sorted.length; at += HASHED_AT_ONCE) {
    const rows = sorted
      .slice(at, at + HASHED_AT_ONCE)
      .flatMap(({ mode, name, id }) => [
        Buffer.from(modeOf(mode), 'latin1'),
        encodeName(name),
        ZERO_BYTE,
        Buffer.from(id, 'hex'),
      ]);
    const piece = Buffer.concat(rows);
    hash.update(piece);
    pace.walk(HASH_STEPS * HASHED_AT_ONCE + piece.length / HASHED_BYTES_PER_STEP);
    if (pace.isTurnDue()) yield TURN;
  }
  return hash.digest('hex');
}

const ZERO_BYTE = Buffer.alloc(1);

function modeOf(mode: string): string {
  return `${mode.replace(/^0/, '')} `;
}

/** Git sorts a directory as if its name ended in a slash. */
export function sortEntries(entries: Directory): Computation<Directory> {
  return sortInTurns(entries, ({ name }) => name, compareEntries);
}

function compareEntries(a: DirectoryEntry, b: DirectoryEntry): number {
  if (!isDirectory(a) && !isDirectory(b)) return comparePaths(a.name, b.name);
  return comparePaths(placeOf(a), placeOf(b));
}

function placeOf(entry: DirectoryEntry): string {
  return isDirectory(entry) ? `${entry.name}/` : entry.name;
}
