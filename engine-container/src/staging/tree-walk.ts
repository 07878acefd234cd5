import { Effort, EffortSpent, Turns } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import {
  type Directory,
  type DirectoryEntry,
  type DirectoryRequest,
  isDirectory,
  type ObjectView,
  type Reading,
  readDirectories,
  TURN,
} from './objects.ts';
import { byPath, type FileVersion, type PathChange } from './path-change.ts';
import { Refused } from './refusal.ts';

/** Steps of comparing two trees: some 100,000 changed files, fewer where their paths are long. */
const TREE_STEPS_MAX = 20_000_000;
/** Steps of one entry of a directory that is looked at, and those of one that differs, beside those of its characters. */
const ENTRY_STEPS = 10;
const CHANGE_STEPS = 100;

export interface TreeDiff {
  /** Files that differ, in git's order. */
  readonly changes: readonly PathChange[];
  /** Directories of the first tree that the second does not have. */
  readonly removedDirectories: ReadonlySet<string>;
}

/**
 * The changes that turn tree `from` into tree `to`, which is of a pull request's head or of the base. Only directories
 * whose ids differ are read, level by level, and where `places` are named, nothing that is not among them. Throws `Unsayable`, and
 * `Refused` where there are too many changes: a tree of a thousand names for one directory of a thousand names for one directory of
 * a thousand files takes three answers to read, and all memory of the engine to list.
 */
export function* diffTrees(
  view: ObjectView,
  from: TreeHash,
  to: TreeHash,
  side: 'base' | 'head' = 'base',
  places: ReadonlySet<string> | null = null,
): Reading<TreeDiff> {
  try {
    return yield* walkTrees(view, { path: '', from, to }, side, places);
  } catch (error) {
    if (error instanceof EffortSpent) throw new Refused('too_many_files');
    throw error;
  }
}

function* walkTrees(
  view: ObjectView,
  root: Pair,
  side: 'base' | 'head',
  places: ReadonlySet<string> | null,
): Reading<TreeDiff> {
  const effort = new Effort(TREE_STEPS_MAX);
  const turns = new Turns(() => effort.left);
  const changes: PathChange[] = [];
  const removedDirectories = new Set<string>();
  let level: Pair[] = root.from === root.to ? [] : [root];
  while (level.length > 0) {
    const requests = level.flatMap(({ path, from: old, to: now }): DirectoryRequest[] => [
      { id: old, path },
      { id: now, path, side },
    ]);
    const directories = yield* readDirectories(view, requests);
    const below: Pair[] = [];
    for (const [at, { path }] of level.entries()) {
      const [before = [], after = []] = [directories[2 * at], directories[2 * at + 1]];
      effort.spend(ENTRY_STEPS * (before.length + after.length));
      if (turns.isDue()) yield TURN;
      for (const { name, old, now } of pairEntries(before, after)) {
        if (old?.id === now?.id && old?.mode === now?.mode) continue;
        const place = path === '' ? name : `${path}/${name}`;
        if (places !== null && !places.has(place)) continue;
        effort.spend(CHANGE_STEPS + place.length);
        const [oldDirectory, newDirectory] = [isDirectory(old), isDirectory(now)];
        if (oldDirectory || newDirectory) {
          below.push({
            path: place,
            from: oldDirectory ? (old?.id ?? null) : null,
            to: newDirectory ? (now?.id ?? null) : null,
          });
          if (!newDirectory) removedDirectories.add(place);
        }
        const [oldFile, newFile] = [versionOf(old), versionOf(now)];
        if (oldFile !== null || newFile !== null) changes.push({ path: place, from: oldFile, to: newFile });
      }
    }
    level = below;
  }
  return { changes: changes.sort(byPath), removedDirectories };
}

interface Pair {
  readonly path: string;
  readonly from: TreeHash | null;
  readonly to: TreeHash | null;
}

interface EntryPair {
  readonly name: string;
  readonly old: DirectoryEntry | undefined;
  readonly now: DirectoryEntry | undefined;
}

function* pairEntries(before: Directory, after: Directory): Generator<EntryPair> {
  const rest = new Map(after.map((entry) => [entry.name, entry]));
  for (const old of before) {
    yield { name: old.name, old, now: rest.get(old.name) };
    rest.delete(old.name);
  }
  for (const now of rest.values()) yield { name: now.name, old: undefined, now };
}

function versionOf(entry: DirectoryEntry | undefined): FileVersion | null {
  if (entry === undefined || isDirectory(entry)) return null;
  return { mode: entry.mode, id: entry.id, size: entry.size };
}
