import { Effort, EffortSpent, Turns } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import {
  type Computation,
  type Directory,
  type DirectoryEntry,
  type DirectoryRequest,
  isDirectory,
  type ObjectView,
  readDirectories,
  TURN,
} from './objects.ts';
import { byPath, type FileVersion, type PathChange } from './path-change.ts';
import { Refused } from './refusal.ts';
import { sortInTurns } from './sort-in-turns.ts';

/** Steps of comparing two trees: some 100,000 changed files, fewer where their paths are long. */
const TREE_STEPS_MAX = 20_000_000;
/** Steps of one entry of a directory that is looked at, and those of one that differs, beside those of its characters. */
const ENTRY_STEPS = 10;
const CHANGE_STEPS = 100;

/** Folders within folders of a changed file. Git itself reads no more than 2,048, and what is edited is followed on the stack. */
const TREE_DEPTH_MAX = 1_000;

export interface TreeDiff {
  /** Files that differ, in git's order. */
  readonly changes: readonly PathChange[];
  /** Directories of the first tree that the second does not have. */
  readonly removedDirectories: ReadonlySet<string>;
}

/**
 * The changes that turn tree `from` into tree `to`, which is of a pull request's head or of the base. Only directories
 * whose ids differ are read, level by level, and where `places` are named, nothing that is not among them. Throws `Unsayable`, and
 * `Refused` where there are too many changes, or one is too deep: a thousand names for one directory, in which a thousand stand for
 * another one of a thousand files, take three answers to read, and all memory of the engine to list.
 */
export function* diffTrees(
  view: ObjectView,
  from: TreeHash,
  to: TreeHash,
  side: 'base' | 'head' = 'base',
  places: ReadonlySet<string> | null = null,
): Computation<TreeDiff> {
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
): Computation<TreeDiff> {
  const effort = new Effort(TREE_STEPS_MAX);
  const turns = new Turns(() => effort.left);
  const changes: PathChange[] = [];
  const removedDirectories = new Set<string>();
  let level: Pair[] = root.from === root.to ? [] : [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > TREE_DEPTH_MAX) throw new EffortSpent();
    const requests = level.flatMap(({ path, from: old, to: now }): DirectoryRequest[] => [
      { id: old, path },
      { id: now, path, side },
    ]);
    const directories = yield* readDirectories(view, requests);
    const below: Pair[] = [];
    for (const [at, { path }] of level.entries()) {
      const [before = [], after = []] = [directories[2 * at], directories[2 * at + 1]];
      const rest = new Map<string, DirectoryEntry>();
      for (const entry of after) {
        effort.spend(ENTRY_STEPS);
        rest.set(entry.name, entry);
        if (turns.isDue()) yield TURN;
      }
      for (const { name, old, now } of pairEntries(before, rest)) {
        effort.spend(old === undefined ? 0 : ENTRY_STEPS);
        if (turns.isDue()) yield TURN;
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
  const sorted = yield* sortInTurns(changes, ({ path }) => path, byPath);
  return { changes: sorted, removedDirectories };
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

/** Takes the entries of `before` out of `rest`, which has those of the other directory. */
function* pairEntries(before: Directory, rest: Map<string, DirectoryEntry>): Generator<EntryPair> {
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
