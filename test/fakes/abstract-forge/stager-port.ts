import type { Commit } from '#core/domain/forge/forge.ts';
import type { EngineForge, FilesRequest, PatchRequest } from '#core/ports/forge.ts';
import { type Call, exchange, found, Refusal } from './exchange.ts';
import { writeFilesTo } from './file-writer.ts';
import { endRun, isUnfinished } from './gate.ts';
import type { StoredTree } from './object-store.ts';
import { applyPatchByIds } from './patch-reader.ts';
import { isNameInTheWay, isNameTaken, moveBranch, removeBranch } from './refs.ts';
import { ruleOf } from './rules.ts';
import { viewCommit } from './views.ts';
import type { World } from './world.ts';

type Stager = Pick<
  EngineForge,
  'applyPatch' | 'writeFiles' | 'createBranch' | 'deleteBranch' | 'cancelGateRun'
>;

/** The writes that stage a tree and clean up after it. */
export function createStager(world: World): Stager {
  return {
    applyPatch: async (request) => applyPatch(world, request),
    writeFiles: async (request) => writeFiles(world, request),
    createBranch: async (branch, at) =>
      exchange(
        world,
        { method: 'POST', path: 'branches', label: 'POST branches' },
        () => {
          refuseLongName(branch);
          // An id that does not resolve is a fault of the server to this forge, not of the caller.
          if (world.objects.commit(at) === undefined) throw new Refusal(500);
          if (isNameTaken(world, branch) || world.tags.has(branch)) throw new Refusal(409);
          moveBranch(world, branch, at, world.bot);
          return true;
        },
        new Map([[409, false]]),
      ),
    deleteBranch: async (branch) =>
      exchange(
        world,
        { method: 'DELETE', path: `branches/${branch}`, label: 'DELETE branches/{branch}' },
        () => {
          found(world.branches.get(branch));
          if (ruleOf(world, branch) !== null || branch === world.base) throw new Refusal(403);
          removeBranch(world, branch, world.bot);
          return true;
        },
        new Map([[404, false]]),
      ),
    cancelGateRun: async (runId) =>
      exchange(
        world,
        { method: 'POST', path: `actions/runs/${runId}/cancel`, label: 'POST actions/runs/{id}/cancel' },
        () => {
          const run = world.runs.find((candidate) => candidate.id === runId);
          if (!world.switches.runsCanBeCancelled || run === undefined) throw new Refusal(404);
          if (!isUnfinished(run)) throw new Refusal(409);
          endRun(world, run, 'cancelled');
          return true;
        },
        new Map([
          [404, false],
          [405, false],
          [409, true],
        ]),
      ),
  };
}

/** Every failed apply is a bare 500, like a fault of the server. */
function applyPatch(world: World, request: PatchRequest): Commit {
  const call: Call = { method: 'POST', path: 'diffpatch', label: 'POST diffpatch', about: request.patch };
  return exchange(world, call, () =>
    commitTree(world, request, world.switches.deniesRuledPatches, (tree) =>
      applyPatchByIds(world.objects, world.merger, tree, request.patch),
    ),
  );
}

function writeFiles(world: World, request: FilesRequest): Commit {
  const call: Call = { method: 'POST', path: 'contents', label: 'POST contents' };
  return exchange(world, call, () =>
    commitTree(world, request, true, (tree) =>
      writeFilesTo(world.objects, world.merger, tree, request.files),
    ),
  );
}

/** Of a name that a call gives a branch; git itself knows no such limit. */
const BRANCH_CHARS_MAX = 100;

function refuseLongName(branch: string): void {
  if (branch.length > BRANCH_CHARS_MAX) throw new Refusal(422);
}

/** `deniesRuled`: a new branch under a rule is refused with 403. */
function commitTree(
  world: World,
  request: Omit<FilesRequest, 'files'>,
  deniesRuled: boolean,
  change: (tree: StoredTree) => StoredTree | null,
): Commit {
  const { objects } = world;
  const { branch, newBranch } = request;
  refuseLongName(branch);
  if (newBranch !== undefined) refuseLongName(newBranch);
  const tip = found(world.branches.get(branch));
  const target = newBranch ?? branch;
  const isHalfMade = world.halfMade.has(target);
  if (newBranch !== undefined && world.branches.has(newBranch) && !isHalfMade) throw new Refusal(422);
  const rule = ruleOf(world, target);
  const isDenied = newBranch === undefined || deniesRuled;
  if (rule !== null && !rule.directPushAllowed) throw new Refusal(isDenied ? 403 : 500);
  const tree = change(objects.treeOf(tip));
  // The push that follows fails in git where the name cannot be, or is there: the forge does not say why.
  if (tree === null || isHalfMade) throw new Refusal(500);
  if (newBranch !== undefined && isNameInTheWay(world, newBranch))
    throw new Refusal(world.switches.deniesTakenNames ? 403 : 500);
  const commit = objects.putCommit({
    tree,
    parents: [tip],
    message: request.message,
    author: world.bot,
    atMs: world.timers.now(),
  });
  moveBranch(world, target, commit.sha, world.bot);
  return viewCommit(commit);
}
