import { Pace } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import type { MergeRefusal } from '#core/domain/pulls/merge-refusal.ts';
import { type FileMerge, mergeFiles } from './file-merge.ts';
import { type Computation, type ObjectView, TURN, Unsayable } from './objects.ts';
import { byPath, type FileVersion, isRegularFile, isSameVersion, type PathChange } from './path-change.ts';
import { Refused } from './refusal.ts';
import { findRenames } from './renames/find-renames.ts';
import { directoryOf } from './renames/sides.ts';
import { sortInTurns } from './sort-in-turns.ts';
import { editTree } from './tree-edit.ts';
import { diffTrees, type TreeDiff } from './tree-walk.ts';

/** Steps of one change that is put beside those of the other side. */
const CHANGE_STEPS = 25;

export type MergePlan =
  | {
      readonly kind: 'plan';
      /** The changes that turn `ours` into the merged tree; empty = the pull request adds nothing. */
      readonly changes: readonly PathChange[];
      readonly tree: TreeHash;
    }
  | { readonly kind: 'refused'; readonly reason: MergeRefusal };

export interface MergeTrees {
  readonly base: TreeHash;
  readonly ours: TreeHash;
  readonly theirs: TreeHash;
}

/**
 * The merge of a pull request as `git merge` makes it: `base` is its merge base, `ours` the staging tip, `theirs` its
 * head. What git calls a conflict is refused, and so is what git could merge in more than one way (A9). The contents of
 * new files are in the view.
 */
export function planMerge(view: ObjectView, trees: MergeTrees): Computation<MergePlan> {
  return unlessRefused(mergeWhole(view, trees));
}

/**
 * A merge as `planMerge` makes it, for a branch that may be far from `base`: of `ours` only what `theirs` changes is looked at, at the
 * same paths, so that it costs no more than the change. A file that `ours` has moved is a conflict. Where `theirs` takes one away that
 * `ours` does not have, all of `ours` is looked at: `ours` may have moved it.
 */
export function planPick(view: ObjectView, trees: MergeTrees): Computation<MergePlan> {
  return unlessRefused(mergePicked(view, trees));
}

function* unlessRefused(merge: Computation<MergePlan>): Computation<MergePlan> {
  try {
    return yield* merge;
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', reason: error.reason };
    if (!(error instanceof Unsayable)) throw error;
    return { kind: 'refused', reason: error.side === 'head' ? 'name_not_utf8' : 'base_name_not_utf8' };
  }
}

function* mergeWhole(view: ObjectView, trees: MergeTrees): Computation<MergePlan> {
  const { base, ours, theirs } = trees;
  if (theirs === base || theirs === ours) return { kind: 'plan', changes: [], tree: ours };
  const ourDiff = yield* diffTrees(view, base, ours);
  const theirDiff = yield* diffTrees(view, base, theirs, 'head');
  return yield* mergeDiffs(view, trees, ourDiff, theirDiff);
}

function* mergePicked(view: ObjectView, trees: MergeTrees): Computation<MergePlan> {
  const { base, ours, theirs } = trees;
  const theirDiff = yield* diffTrees(view, base, theirs, 'head');
  const places = placesOf(theirDiff.changes);
  const atPlaces = yield* diffTrees(view, base, ours, 'base', places);
  const ourDiff = areBothGone(atPlaces, theirDiff) ? yield* diffTrees(view, base, ours) : atPlaces;
  return yield* mergeDiffs(view, trees, ourDiff, theirDiff);
}

/** True where a file of the merge base is at its path on neither side. */
function areBothGone(ours: TreeDiff, theirs: TreeDiff): boolean {
  const gone = new Set(ours.changes.filter(({ to }) => to === null).map(({ path }) => path));
  return theirs.changes.some(({ path, to }) => to === null && gone.has(path));
}

/** The paths and the directories above them. */
function placesOf(changes: readonly PathChange[]): ReadonlySet<string> {
  const places = new Set<string>();
  for (const { path } of changes)
    for (let place = path; place !== '' && !places.has(place); place = directoryOf(place)) places.add(place);
  return places;
}

function* mergeDiffs(
  view: ObjectView,
  trees: MergeTrees,
  ourDiff: TreeDiff,
  theirDiff: TreeDiff,
): Computation<MergePlan> {
  const { base, ours, theirs } = trees;
  const pace = new Pace();
  const { settled, merges } = yield* sortPaths(view, [base, ours, theirs], ourDiff, theirDiff);
  pace.walk(CHANGE_STEPS * (ourDiff.changes.length + theirDiff.changes.length));
  if (pace.isTurnDue()) yield TURN;
  const merged = yield* mergeFiles(view, merges, [base, ours, theirs]);
  const ourFiles = new Map(ourDiff.changes.map(({ path, to }) => [path, to]));
  const fromMerges = merges.map(
    ({ path }): PathChange => ({ path, from: ourFiles.get(path) ?? null, to: merged.get(path) ?? null }),
  );
  const all = [...settled, ...fromMerges].filter(({ from, to }) => !isSameVersion(from, to));
  const changes = yield* sortInTurns(all, ({ path }) => path, byPath);
  const tree = yield* editTree(view, ours, changes);
  if (tree === 'clash') throw new Refused('conflict');
  return { kind: 'plan', changes, tree };
}

/** The paths that need no contents, as changes of `ours`, and those that do. */
interface Sorted {
  readonly settled: readonly PathChange[];
  readonly merges: readonly FileMerge[];
}

function* sortPaths(
  view: ObjectView,
  trees: readonly TreeHash[],
  ours: TreeDiff,
  theirs: TreeDiff,
): Computation<Sorted> {
  const settled: PathChange[] = [];
  const merges: FileMerge[] = [];
  const ourChanges = new Map(ours.changes.map((change) => [change.path, change]));
  const renamed = yield* findRenames(view, trees, ours, theirs);
  for (const { source, ...file } of renamed) {
    merges.push(file);
    settled.push({ path: source, from: ourChanges.get(source)?.to ?? null, to: null });
  }
  const handled = new Set(renamed.flatMap(({ path, source }) => [path, source]));
  for (const { path, from: base, to: their } of theirs.changes) {
    if (handled.has(path)) continue;
    const change = ourChanges.get(path);
    if (change === undefined) settled.push({ path, from: base, to: their });
    else if (!isSameVersion(change.to, their)) merges.push(twoSided(path, base, change.to, their));
  }
  return { settled, merges };
}

/** Both sides changed the path, each in its own way. */
function twoSided(
  path: string,
  base: FileVersion | null,
  ours: FileVersion | null,
  theirs: FileVersion | null,
): FileMerge {
  if (ours === null || theirs === null) throw new Refused('conflict');
  const all = base === null ? [ours, theirs] : [base, ours, theirs];
  // Two new files of one name merge only where one of them is empty, which is for the contents to tell.
  if (!all.every(isRegularFile)) throw new Refused('conflict');
  return { path, base, ours, theirs };
}
