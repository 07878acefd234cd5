import type { Commit, RefInTheWay } from '#core/domain/forge/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { sameTreeFile } from '#core/domain/queue/queue-names.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import { BranchMoved, type ChangeRequest, type ChangeWriter } from './change-writer.ts';
import { type Computation, isDirectory, type ObjectView, readDirectories } from './objects.ts';
import { isRegularFile, NEW_FILE_MODE, type PathChange } from './path-change.ts';
import type { RepoObjects } from './repo-objects.ts';
import { diffTrees } from './tree-walk.ts';

/** Raised where no branch of this name can be made, whatever is tried: blames no pull request. */
export class NameInTheWay extends Error {
  override readonly name = 'NameInTheWay';
  constructor(
    readonly ref: RefInTheWay,
    readonly branch: string,
  ) {
    super('a reference of the repository makes a branch of the queue impossible');
  }
}

export interface TreeWriterDeps {
  readonly forge: EngineForge;
  readonly objects: RepoObjects;
  readonly writer: ChangeWriter;
}

/** Creates a branch with the change made; one left over by an attempt that died is removed first. */
export async function writeToNewBranch(
  { forge, writer }: Pick<TreeWriterDeps, 'forge' | 'writer'>,
  request: ChangeRequest & { readonly newBranch: string },
): Promise<Commit> {
  try {
    return await writeAnew(forge, writer, request);
  } catch (error) {
    const ref = isRefusal(error) ? await forge.findRefInTheWay([request.newBranch]) : null;
    // A tag of that name is nothing to a commit: what is refused is refused for something else.
    if (ref?.kind === 'branch') throw new NameInTheWay(ref, request.newBranch);
    // The forge answers, and so may be asked for more.
    if (!isBareFault(error) || !(await removeHalfMade(forge, request.newBranch))) throw error;
    return await writer.write(request);
  }
}

async function writeAnew(
  forge: EngineForge,
  writer: ChangeWriter,
  request: ChangeRequest & { readonly newBranch: string },
): Promise<Commit> {
  try {
    return await writer.write(request);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'rejected') throw error;
    await forge.deleteBranch(request.newBranch);
    return await writer.write(request);
  }
}

/** The forge's own word, be it a bare 500, or as of a right that is missing: it was there, and would not. */
function isRefusal(error: unknown): boolean {
  return isBareFault(error) || (error instanceof ForgeError && ['rejected', 'denied'].includes(error.kind));
}

function isBareFault(error: unknown): boolean {
  return error instanceof ForgeError && error.status === 500;
}

/**
 * A forge that died over a push may have the branch in git and not in its own table of branches: no read shows it, and each
 * patch of that name is a bare 500, as one that does not apply (forge facts, 6.1). False: there was none, or it may stand.
 */
async function removeHalfMade(forge: EngineForge, branch: string): Promise<boolean> {
  try {
    return await forge.deleteBranch(branch);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return false;
  }
}

/** A branch at exactly this commit; one left over by an attempt that died is removed first. */
export async function placeBranch(forge: EngineForge, branch: string, at: CommitSha): Promise<void> {
  if (await forge.createBranch(branch, at)) return;
  await forge.deleteBranch(branch);
  if (await forge.createBranch(branch, at)) return;
  const ref = await forge.findRefInTheWay([branch]);
  if (ref !== null) throw new NameInTheWay(ref, branch);
  throw new ForgeError('rejected', 'POST branches', 409);
}

export interface TreeToPublish {
  readonly queueName: string;
  readonly baseBranch: string;
  readonly branch: string;
  readonly groundSha: CommitSha;
  /** Tree, or commit whose tree it is. */
  readonly groundTree: string;
  readonly tree: TreeHash;
  readonly message: string;
  /** Branch that starts no gate run, for what has to be built first. */
  readonly workBranch: string;
  /** No branch holds `groundSha`: the work branch does meanwhile. */
  readonly isAnchored: boolean;
}

/** Removes a branch that was built on. False: the forge failed, and it may stand; what was built counts all the same. */
export async function removeWorkBranch(forge: EngineForge, branch: string): Promise<boolean> {
  try {
    await forge.deleteBranch(branch);
    return true;
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return false;
  }
}

export interface Published {
  readonly commit: Commit | 'base_moved';
  /** The work branch may stand: it is to be swept. */
  readonly leavesWorkBranch?: true;
}

/** Publishes one commit on `groundSha` that has exactly `tree`: the shape of every staged prefix but the whole batch. */
export async function publishTree(deps: TreeWriterDeps, wanted: TreeToPublish): Promise<Published> {
  const { forge, objects, writer } = deps;
  const from = await objects.treeOf(wanted.groundTree);
  const { changes } = await objects.run(diffTrees(objects, from, await objects.treeOf(wanted.tree)));
  const extra = changes.length > 0 ? null : await objects.run(findExtraFile(objects, from, wanted.queueName));
  const { workBranch } = wanted;
  if (wanted.isAnchored) await placeBranch(forge, workBranch, wanted.groundSha);
  const source = wanted.isAnchored ? workBranch : wanted.baseBranch;
  const parent = extra === null ? wanted.groundSha : await detour(deps, wanted, from, extra);
  const lastChanges = extra === null ? changes : [turn(extra)];
  const files = parent === null ? null : await writer.readFilesInTime(from, lastChanges);
  const commit =
    parent === null
      ? null
      : await unlessMoved(
          writeToNewBranch(deps, {
            branch: extra === null ? source : workBranch,
            parent,
            newBranch: wanted.branch,
            changes: lastChanges,
            files,
            message: wanted.message,
          }),
        );
  const usesWorkBranch = wanted.isAnchored || extra !== null;
  const isRemoved = !usesWorkBranch || (await removeWorkBranch(forge, workBranch));
  const left = isRemoved ? {} : ({ leavesWorkBranch: true } as const);
  if (commit === null) return { commit: 'base_moved', ...left };
  if (commit.parents[0] !== parent) {
    await forge.deleteBranch(wanted.branch);
    return { commit: 'base_moved', ...left };
  }
  // A tree that is not the planned one must never be gated as if it were (A9).
  if (commit.tree !== wanted.tree) {
    await forge.deleteBranch(wanted.branch);
    throw new StagedTreeMismatch();
  }
  return { commit, ...left };
}

/**
 * The first half of a commit of ours whose tree is that of `groundSha`, which no single patch makes: a file is added on the
 * work branch, to be removed again by what is published. The commit of `groundSha` itself may tell the forge to start no
 * run, in words that each installation chooses. Null: the base has moved.
 */
async function detour(
  deps: TreeWriterDeps,
  { workBranch, isAnchored, baseBranch, groundSha, message }: TreeToPublish,
  before: TreeHash,
  extra: PathChange,
): Promise<CommitSha | null> {
  const { writer } = deps;
  const changes = [extra];
  const files = await writer.readFilesInTime(before, changes);
  const request = { changes, files, parent: groundSha, message: `${message} [skip ci]` };
  const commit = await unlessMoved(
    isAnchored
      ? writer.write({ ...request, branch: workBranch })
      : writeToNewBranch(deps, { ...request, branch: baseBranch, newBranch: workBranch }),
  );
  return commit?.parents[0] === groundSha ? commit.sha : null;
}

/** Null: files were refused because the branch has moved. */
async function unlessMoved(written: Promise<Commit>): Promise<Commit | null> {
  try {
    return await written;
  } catch (error) {
    if (error instanceof BranchMoved) return null;
    throw error;
  }
}

/** A new file under a name that the root of the tree does not have, with contents that the forge has. */
function* findExtraFile(view: ObjectView, tree: TreeHash, queueName: string): Computation<PathChange> {
  const [root = []] = yield* readDirectories(view, [{ id: tree, path: '' }]);
  const names = new Set(root.map(({ name }) => name));
  let path = sameTreeFile(queueName);
  while (names.has(path)) path += '-';
  const waiting: { readonly id: TreeHash; readonly path: string }[] = [{ id: tree, path: '' }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [directory = []] = yield* readDirectories(view, [next]);
    const file = directory.find(isRegularFile);
    if (file !== undefined) return { path, from: null, to: { mode: NEW_FILE_MODE, id: file.id } };
    for (const { name, id } of directory.filter(isDirectory)) {
      waiting.push({ id, path: next.path === '' ? name : `${next.path}/${name}` });
    }
  }
  // Without a file there is no gate workflow either, and nothing is staged.
  throw new StagedTreeMismatch();
}

function turn({ path, from, to }: PathChange): PathChange {
  return { path, from: to, to: from };
}

export class StagedTreeMismatch extends Error {
  override readonly name = 'StagedTreeMismatch';
  constructor() {
    super('the forge staged another tree than the one planned');
  }
}
