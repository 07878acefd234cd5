import { Pace } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import type { FileMerge } from '../file-merge.ts';
import { LIKENESS_WORDS, MergeRules } from '../merge-rules.ts';
import { type Computation, type ObjectView, TURN } from '../objects.ts';
import { type FileVersion, isRegularFile, type PathChange } from '../path-change.ts';
import { Refused } from '../refusal.ts';
import type { TreeDiff } from '../tree-walk.ts';
import { pairFiles } from './pair-files.ts';
import { belowAny, directoryOf, type RenameFile } from './sides.ts';

/** A file that one side, or both, moved, and the other changed: what is to be merged at its new place. */
export interface RenamedFile extends FileMerge {
  readonly base: FileVersion;
  readonly source: string;
}

/** Steps of one change that is looked up. */
const CHANGE_STEPS = 25;

/** Ids of the empty file: git never takes it for a renamed one. */
const EMPTY_BLOBS: readonly string[] = [
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
];

/**
 * The renames that matter for a merge, from what either side changed since the base. Throws `Refused` for what git calls
 * a conflict because of a rename: of a deleted file, to two places, over another file, of a directory with new files.
 *
 * @param trees all that may hold rules for it
 */
export function* findRenames(
  view: ObjectView,
  trees: readonly TreeHash[],
  ours: TreeDiff,
  theirs: TreeDiff,
): Computation<readonly RenamedFile[]> {
  const pace = new Pace();
  const ourChanges = yield* indexChanges(ours.changes, pace);
  const theirChanges = yield* indexChanges(theirs.changes, pace);
  const rules = new MergeRules(view, trees, LIKENESS_WORDS);
  const ourPairs = yield* pairSide(view, rules, ours, theirs, theirChanges, pace);
  const theirPairs = yield* pairSide(view, rules, theirs, ours, ourChanges, pace);
  const renamed: RenamedFile[] = [];
  for (const source of new Set([...ourPairs.keys(), ...theirPairs.keys()])) {
    const [our, their] = [ourChanges.get(source), theirChanges.get(source)];
    // A file that the other side left alone is gone from its old place and new at the other: no more to it.
    if (our === undefined || their === undefined || our.from === null) continue;
    const [ourPlace, theirPlace] = [ourPairs.get(source), theirPairs.get(source)];
    const target = ourPlace ?? theirPlace;
    if (target === undefined) continue;
    const [ourFile, theirFile] = [
      our.to ?? versionAt(ourChanges, ourPlace),
      their.to ?? versionAt(theirChanges, theirPlace),
    ];
    // Deleted by one side, moved by the other; or moved by both, to two places.
    if (ourFile === null || theirFile === null) throw new Refused('conflict');
    if (ourPlace !== undefined && theirPlace !== undefined) {
      if (ourPlace !== theirPlace) throw new Refused('conflict');
    } else {
      const others = ourPlace === undefined ? ourChanges : theirChanges;
      if (versionAt(others, target) !== null) throw new Refused('conflict');
    }
    if (isRegularFile(ourFile) !== isRegularFile(theirFile)) throw new Refused('merge_unsure');
    renamed.push({ path: target, source, base: our.from, ours: ourFile, theirs: theirFile });
  }
  return renamed;
}

function* indexChanges(
  changes: readonly PathChange[],
  pace: Pace,
): Computation<ReadonlyMap<string, PathChange>> {
  pace.walk(CHANGE_STEPS * changes.length);
  if (pace.isTurnDue()) yield TURN;
  return new Map(changes.map((change) => [change.path, change]));
}

function versionAt(changes: ReadonlyMap<string, PathChange>, path: string | undefined): FileVersion | null {
  return path === undefined ? null : (changes.get(path)?.to ?? null);
}

function* pairSide(
  view: ObjectView,
  rules: MergeRules,
  own: TreeDiff,
  other: TreeDiff,
  otherChanges: ReadonlyMap<string, PathChange>,
  pace: Pace,
): Computation<ReadonlyMap<string, string>> {
  pace.walk(CHANGE_STEPS * (own.changes.length + other.changes.length));
  if (pace.isTurnDue()) yield TURN;
  const sources = own.changes.flatMap(({ path, from, to }) => (to === null ? toFile(path, from) : []));
  const targets = own.changes.flatMap(({ path, from, to }) => (from === null ? toFile(path, to) : []));
  // Removed here, while the other side put something new into it: it may have moved as a whole.
  const disputed = new Set(
    other.changes.flatMap(({ path, from }) => {
      const directory = directoryOf(path);
      return from === null && own.removedDirectories.has(directory) ? [directory] : [];
    }),
  );
  const isDisputed = belowAny(disputed);
  const relevant = new Set(
    sources.flatMap(({ path }) => (otherChanges.has(path) || isDisputed(path) ? [path] : [])),
  );
  const { removedDirectories } = own;
  const pairs = yield* pairFiles(view, rules, { sources, targets, relevant, removedDirectories });
  if ([...pairs.keys()].some(isDisputed)) throw new Refused('directory_renamed');
  return pairs;
}

function toFile(path: string, version: FileVersion | null): readonly RenameFile[] {
  if (version === null || EMPTY_BLOBS.includes(version.id)) return [];
  return [{ path, mode: version.mode, id: version.id, size: version.size ?? null }];
}
