import type { TreeEntry } from '#core/domain/forge.ts';
import {
  byPath,
  comparePaths,
  type FileVersion,
  indexByPath,
  isRegularFile,
  isSameVersion,
  type PathChange,
} from './path-change.ts';

export type MergePlan =
  | {
      readonly kind: 'plan';
      /** What turns `ours` into the merged tree; empty = the pull request adds nothing. */
      readonly changes: readonly PathChange[];
      /** The merged tree in git's order; null when a content merge leaves an id to the forge. */
      readonly result: readonly TreeEntry[] | null;
      /** Paths whose contents the forge has to merge. */
      readonly contentMerges: readonly string[];
    }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] };

type PathDecision =
  | { readonly kind: 'keep' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'change'; readonly to: TreeEntry | undefined }
  | { readonly kind: 'merge contents'; readonly mode: string };

/**
 * Tree-level three-way merge of a pull request: `base` is its merge base, `ours` the staging tip, `theirs` its head,
 * each a flat listing without directories. Renames are not followed, which errs on the side of conflict (D-01).
 */
export function planMerge(trees: {
  readonly base: readonly TreeEntry[];
  readonly ours: readonly TreeEntry[];
  readonly theirs: readonly TreeEntry[];
}): MergePlan {
  const base = indexByPath(trees.base);
  const merged = new Map(indexByPath(trees.ours));
  const theirs = indexByPath(trees.theirs);
  const changes: PathChange[] = [];
  const contentMerges: string[] = [];
  const conflicts: string[] = [];

  for (const path of new Set([...theirs.keys(), ...base.keys()])) {
    const [b, o, t] = [base.get(path), merged.get(path), theirs.get(path)];
    const decision = decidePath(b, o, t);
    if (decision.kind === 'conflict') {
      conflicts.push(path);
    } else if (decision.kind === 'change') {
      changes.push({ path, from: versionOf(o), to: versionOf(decision.to) });
      if (decision.to === undefined) merged.delete(path);
      else merged.set(path, decision.to);
    } else if (decision.kind === 'merge contents' && b !== undefined && o !== undefined && t !== undefined) {
      changes.push({ path, from: { mode: o.mode, id: b.id }, to: { mode: decision.mode, id: t.id } });
      contentMerges.push(path);
    }
  }
  conflicts.push(...findDirectoryClashes(merged));

  if (conflicts.length > 0) return { kind: 'conflict', paths: [...new Set(conflicts)].sort(comparePaths) };
  return {
    kind: 'plan',
    changes: changes.sort(byPath),
    result: contentMerges.length > 0 ? null : [...merged.values()].sort(byPath),
    contentMerges: contentMerges.sort(comparePaths),
  };
}

function decidePath(
  base: TreeEntry | undefined,
  ours: TreeEntry | undefined,
  theirs: TreeEntry | undefined,
): PathDecision {
  if (isSameVersion(theirs, base) || isSameVersion(ours, theirs)) return { kind: 'keep' };
  if (isSameVersion(ours, base)) return { kind: 'change', to: theirs };
  if (base === undefined || ours === undefined || theirs === undefined) return { kind: 'conflict' };
  if (![base, ours, theirs].every(isRegularFile)) return { kind: 'conflict' };

  const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
  if (theirs.id === base.id || theirs.id === ours.id) {
    return mode === ours.mode ? { kind: 'keep' } : { kind: 'change', to: { ...ours, mode } };
  }
  if (ours.id === base.id) return { kind: 'change', to: { ...theirs, mode } };
  return { kind: 'merge contents', mode };
}

function versionOf(entry: TreeEntry | undefined): FileVersion | null {
  return entry === undefined ? null : { mode: entry.mode, id: entry.id };
}

/** Paths that one side made a file and the other a directory. */
function findDirectoryClashes(merged: ReadonlyMap<string, TreeEntry>): readonly string[] {
  const clashes = new Set<string>();
  const seen = new Set<string>();
  for (const path of merged.keys()) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const directory = path.slice(0, slash);
      if (seen.has(directory)) break;
      seen.add(directory);
      if (merged.has(directory)) clashes.add(directory);
    }
  }
  return [...clashes];
}
