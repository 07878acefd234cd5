import type { Commit, TreeEntry } from '#core/domain/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { type EngineForge, ForgeError, type PatchRequest } from '#core/ports/forge.ts';
import { renderPatch } from './staging/patch.ts';
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

/** Publishes one commit on `onto` that has exactly `tree`: the shape of every staged prefix but the whole batch. */
export async function publishTree(
  forge: EngineForge,
  trees: TreeCache,
  options: {
    readonly baseBranch: string;
    readonly branch: string;
    readonly onto: CommitSha;
    /** Branch outside `mq/**` that holds `onto` meanwhile; null where the base does. */
    readonly anchorBranch: string | null;
    /** Tree, or commit whose tree it is. */
    readonly ontoTree: string;
    readonly tree: TreeHash;
    readonly message: string;
  },
): Promise<Commit | 'base_moved'> {
  const [from, to] = await Promise.all([trees.read(options.ontoTree), trees.read(options.tree)]);
  if (options.anchorBranch !== null) await placeBranch(forge, options.anchorBranch, options.onto);
  const commit = await applyToNewBranch(forge, {
    branch: options.anchorBranch ?? options.baseBranch,
    newBranch: options.branch,
    patch: renderPatch(diffTrees(from, to)),
    message: options.message,
    mayConflict: false,
  });
  if (options.anchorBranch !== null) await forge.deleteBranch(options.anchorBranch);
  if (commit === 'conflict' || commit.parents[0] !== options.onto) {
    await forge.deleteBranch(options.branch);
    return 'base_moved';
  }
  // A tree that is not the planned one must never be gated as if it were (A9).
  if (commit.tree !== options.tree) {
    await forge.deleteBranch(options.branch);
    throw new StagedTreeMismatch();
  }
  return commit;
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
