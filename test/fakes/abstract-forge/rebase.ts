import type { CommitSha } from '#core/domain/ids.ts';
import type { StoredCommit } from './object-store.ts';
import type { World } from './world.ts';

/**
 * `git rebase`: the head's own commits one by one, merges left out, and without those whose change the base has made before,
 * whatever came of it there. So a change that the head takes back again undoes the same change of the base, where a merge keeps
 * it (D-13). Forgejo rebases no head that holds the whole base.
 */
export function replay(world: World, tip: CommitSha, head: CommitSha): StoredCommit | null {
  const { objects, merger } = world;
  const own = inTopologicalOrder(objects.listMissingCommits(tip, head));
  if (objects.isAncestor(tip, head)) {
    const isLinear = own.every((commit) => commit.parents.length === 1);
    if (isLinear || world.switches.keepsMergesInRebase) return objects.mustCommit(head);
  }
  const madeBefore = new Set(
    objects.listMissingCommits(head, tip).flatMap((commit) => patchOf(world, commit)),
  );
  let current = objects.mustCommit(tip);
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
  }
  return current;
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
  const after = objects.treeOf(sha).byPath;
  const before = parent === undefined ? new Map<string, never>() : objects.treeOf(parent).byPath;
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => {
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
