import type { CommitSha } from '#core/domain/ids.ts';
import { isConverted } from './converted.ts';
import type { StoredCommit, StoredTree } from './object-store.ts';
import type { World } from './world.ts';

/**
 * `git rebase`: the head's own commits one by one, merges left out, and without those whose change the base has made before,
 * whatever came of it there. So a change that the head takes back again undoes the same change of the base, where a merge keeps
 * it (D-13). Forgejo rebases no head that holds the whole base.
 */
export function replay(world: World, tip: CommitSha, head: CommitSha): StoredCommit | null {
  const { objects } = world;
  const own = inTopologicalOrder(objects.listMissingCommits(tip, head));
  const isLinear = own.every((commit) => commit.parents.length === 1);
  const isKept = objects.isAncestor(tip, head) && (isLinear || world.switches.keepsMergesInRebase);
  const trail = isKept
    ? [objects.mustCommit(tip), objects.mustCommit(head)]
    : replayEach(world, tip, head, own);
  if (trail === null) return null;
  const isCheckedOut = !isKept || world.switches.rebasesUpToDate;
  if (isCheckedOut && stopsAtConverted(world, head, trail)) return null;
  return trail.at(-1) ?? null;
}

/** The tip and what is written on it, each on the one before. */
function replayEach(
  world: World,
  tip: CommitSha,
  head: CommitSha,
  own: readonly StoredCommit[],
): readonly StoredCommit[] | null {
  const { objects, merger } = world;
  const madeBefore = new Set(
    objects.listMissingCommits(head, tip).flatMap((commit) => patchOf(world, commit)),
  );
  let current = objects.mustCommit(tip);
  const trail = [current];
  for (const commit of own) {
    const [parent, ...others] = commit.parents;
    if (others.length > 0 || patchOf(world, commit).some((patch) => madeBefore.has(patch))) continue;
    const before = parent === undefined ? objects.putTree([]) : objects.treeOf(parent);
    const tree = merger.merge(before, objects.treeOf(current.sha), objects.treeOf(commit.sha));
    if (tree === null) return null;
    const wasEmpty = before.hash === commit.tree;
    if (tree.hash === current.tree && !wasEmpty) continue;
    current = objects.putCommit({
      tree,
      parents: [current.sha],
      message: commit.message,
      author: 'dev',
      atMs: world.timers.now(),
    });
    trail.push(current);
  }
  return trail;
}

/** Git stops where it takes a file for changed that it is about to overwrite, and before it begins where there is any in the head. */
function stopsAtConverted(world: World, head: CommitSha, trail: readonly StoredCommit[]): boolean {
  const { objects } = world;
  const trees = trail.map(({ sha }) => objects.treeOf(sha));
  const [tip, last, own] = [trees[0], trees.at(-1), objects.treeOf(head)];
  if (tip === undefined || last === undefined) return false;
  const checkedOut = differingPaths(tip, own);
  const stops = (tree: StoredTree, paths: readonly string[]): boolean =>
    paths.some((path) => checkedOut.includes(path) && isConverted(objects, tree, path));
  return (
    stops(own, checkedOut) ||
    trees.slice(1).some((tree, at) => stops(trees[at] ?? tip, differingPaths(trees[at] ?? tip, tree))) ||
    [tip, last].some((tree) => stops(tree, differingPaths(tip, last)))
  );
}

/**
 * Of files as a whole, without white space; git compares lines, so that it finds more to be the same. None of a merge, and none
 * of no change.
 */
function patchOf({ objects }: World, commit: StoredCommit): readonly string[] {
  const paths = changedPaths({ objects }, commit.sha);
  const [parent, ...others] = commit.parents;
  if (parent === undefined || others.length > 0 || paths.length === 0) return [];
  const [before, after] = [objects.treeOf(parent).byPath, objects.treeOf(commit.sha).byPath];
  const told = (entry: { readonly mode: string; readonly id: string } | undefined): string => {
    const content = entry === undefined ? undefined : objects.blob(entry.id);
    return `${entry?.mode} ${content?.replace(/\s/g, '') ?? entry?.id}`;
  };
  return [paths.map((path) => `${path} ${told(before.get(path))} ${told(after.get(path))}`).join('\n')];
}

/** Against the first parent. */
export function changedPaths({ objects }: Pick<World, 'objects'>, sha: CommitSha): readonly string[] {
  const [parent] = objects.mustCommit(sha).parents;
  const after = objects.treeOf(sha);
  return parent === undefined ? [...after.byPath.keys()] : differingPaths(objects.treeOf(parent), after);
}

function differingPaths({ byPath: before }: StoredTree, { byPath: after }: StoredTree): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    return old?.id !== now?.id || old?.mode !== now?.mode;
  });
}

/** Parents first, one line after the other, that of the first parent before those that were merged into it. */
function inTopologicalOrder(commits: readonly StoredCommit[]): readonly StoredCommit[] {
  const bySha = new Map(commits.map((commit) => [commit.sha, commit]));
  const isParent = new Set(commits.flatMap(({ parents }) => parents));
  const children = new Map<CommitSha, number>();
  for (const sha of commits.flatMap(({ parents }) => parents))
    children.set(sha, (children.get(sha) ?? 0) + 1);
  const open = commits.filter(({ sha }) => !isParent.has(sha));
  const newestFirst: StoredCommit[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    newestFirst.push(next);
    for (const sha of next.parents) {
      const left = (children.get(sha) ?? 0) - 1;
      children.set(sha, left);
      const parent = bySha.get(sha);
      if (left === 0 && parent !== undefined) open.push(parent);
    }
  }
  return newestFirst.reverse();
}
