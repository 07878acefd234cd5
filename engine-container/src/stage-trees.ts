import type { Commit, TreeEntry } from '#core/domain/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { type EngineForge, ForgeError, type PatchRequest } from '#core/ports/forge.ts';
import { renderPatch } from './staging/patch.ts';
import { isRegularFile, type PathChange } from './staging/path-change.ts';
import { planMerge } from './staging/three-way.ts';
import { diffTrees } from './staging/tree-diff.ts';

/** Tree listings by commit or tree id: immutable, so one reconcile reads each once. */
export class TreeCache {
  readonly #forge: EngineForge;
  readonly #listings = new Map<string, Promise<readonly TreeEntry[]>>();

  constructor(forge: EngineForge) {
    this.#forge = forge;
  }

  read(id: string): Promise<readonly TreeEntry[]> {
    const known = this.#listings.get(id);
    if (known !== undefined) return known;
    const listing = this.#forge.readTree(id);
    this.#listings.set(id, listing);
    // A failed read is not a fact about the tree.
    listing.catch(() => this.#listings.delete(id));
    return listing;
  }

  remember(id: string, entries: readonly TreeEntry[]): void {
    this.#listings.set(id, Promise.resolve(entries));
  }
}

/** Creates a branch with the patch applied; one left over by an attempt that died is removed first. */
export async function applyToNewBranch(
  forge: EngineForge,
  request: PatchRequest & { readonly newBranch: string },
): Promise<Commit | 'conflict'> {
  try {
    return await forge.applyPatch(request);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'rejected') throw error;
    await forge.deleteBranch(request.newBranch);
    return await forge.applyPatch(request);
  }
}

/** A branch at exactly this commit; one left over by an attempt that died is removed first. */
export async function placeBranch(forge: EngineForge, branch: string, at: CommitSha): Promise<void> {
  if (await forge.createBranch(branch, at)) return;
  await forge.deleteBranch(branch);
  await forge.createBranch(branch, at);
}

export interface TreeToPublish {
  readonly baseBranch: string;
  readonly branch: string;
  readonly onto: CommitSha;
  /** Tree, or commit whose tree it is. */
  readonly ontoTree: string;
  readonly tree: TreeHash;
  readonly message: string;
  /** Branch outside `mq/**` for what has to be built first. */
  readonly workBranch: string;
  /** No branch holds `onto`: the work branch does meanwhile. */
  readonly isAnchored: boolean;
}

/** Publishes one commit on `onto` that has exactly `tree`: the shape of every staged prefix but the whole batch. */
export async function publishTree(
  forge: EngineForge,
  trees: TreeCache,
  wanted: TreeToPublish,
): Promise<Commit | 'base_moved'> {
  const [from, to] = await Promise.all([trees.read(wanted.ontoTree), trees.read(wanted.tree)]);
  const changes = diffTrees(from, to);
  const { workBranch } = wanted;
  if (wanted.isAnchored) await placeBranch(forge, workBranch, wanted.onto);
  const source = wanted.isAnchored ? workBranch : wanted.baseBranch;
  const parent = changes.length > 0 ? wanted.onto : await detour(forge, wanted, from);
  const commit =
    parent === null
      ? null
      : await applyToNewBranch(forge, {
          branch: changes.length > 0 ? source : workBranch,
          newBranch: wanted.branch,
          patch: renderPatch(changes.length > 0 ? changes : [extraFile(from, 'removed')]),
          message: wanted.message,
          mayConflict: false,
        });
  if (wanted.isAnchored || changes.length === 0) await forge.deleteBranch(workBranch);
  if (commit === null) return 'base_moved';
  if (commit === 'conflict' || commit.parents[0] !== parent) {
    await forge.deleteBranch(wanted.branch);
    return 'base_moved';
  }
  // A tree that is not the planned one must never be gated as if it were (A9).
  if (commit.tree !== wanted.tree) {
    await forge.deleteBranch(wanted.branch);
    throw new StagedTreeMismatch();
  }
  return commit;
}

/**
 * The first half of a commit of ours whose tree is that of `onto`, which no single patch makes: a file is added on the
 * work branch, to be removed again by what is published. The commit of `onto` itself may tell the forge to start no
 * run, in words that each installation chooses. Null: the base has moved.
 */
async function detour(
  forge: EngineForge,
  { workBranch, isAnchored, baseBranch, onto, message }: TreeToPublish,
  entries: readonly TreeEntry[],
): Promise<CommitSha | null> {
  const request = {
    patch: renderPatch([extraFile(entries, 'added')]),
    message: `${message} [skip ci]`,
    mayConflict: false,
  };
  const commit = isAnchored
    ? await forge.applyPatch({ ...request, branch: workBranch })
    : await applyToNewBranch(forge, { ...request, branch: baseBranch, newBranch: workBranch });
  return commit === 'conflict' || commit.parents[0] !== onto ? null : commit.sha;
}

/** A file under a name that the tree does not have, with contents that the forge has. */
function extraFile(entries: readonly TreeEntry[], change: 'added' | 'removed'): PathChange {
  const file = entries.find(isRegularFile);
  // Without a file there is no gate workflow either, and nothing is staged.
  if (file === undefined) throw new StagedTreeMismatch();
  let path = 'mq-same-tree';
  while (entries.some((entry) => entry.path === path || entry.path.startsWith(`${path}/`))) path += '-';
  const version = { mode: file.mode, id: file.id };
  return change === 'added' ? { path, from: null, to: version } : { path, from: version, to: null };
}

export class StagedTreeMismatch extends Error {
  override readonly name = 'StagedTreeMismatch';
  constructor() {
    super('the forge staged another tree than the one planned');
  }
}

/** Whether a head changes, since its fork, a file that `tree` has otherwise than the fork, and not in the same way. */
export async function touchSameFiles(
  trees: TreeCache,
  { fork, tree, head }: { readonly fork: string; readonly tree: string; readonly head: string },
): Promise<boolean> {
  const plan = planMerge({
    base: await trees.read(fork),
    ours: await trees.read(tree),
    theirs: await trees.read(head),
  });
  return plan.kind === 'conflict' || plan.contentMerges.length > 0;
}

/** The head of a fork arrives in the base repository some time after the push: null until it has. */
export async function unlessNotReady<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'missing' || error.kind === 'rejected')) return null;
    throw error;
  }
}
