import type { TreeEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import type { StoredTree } from './object-store.ts';
import {
  type ConflictCheck,
  type ConflictState,
  mustTip,
  type Pull,
  type StartedCheck,
  type World,
} from './world.ts';

/**
 * Conflict checks are worked out only on demand: a check is bound to the tip and head it was started for, so
 * its outcome does not depend on when that is. A thousand waiting pull requests cost little when the base moves.
 */
export function startChecks(world: World, pulls: readonly Pull[]): void {
  const started: StartedCheck[] = [];
  for (const pull of pulls) {
    if (pull.mergeCommit !== null) continue;
    replaceCheck(world, pull, newCheck(world, pull));
    started.push({ pull, check: pull.check });
  }
  if (started.length === 0) return;
  const { checkDelayMs } = world.knobs;
  // A check without delay has ended when this returns; a later echo of its end would repair triggers lost since.
  if (checkDelayMs === 0) world.reactions.checksEnded(started);
  else world.timers.after(checkDelayMs, () => world.reactions.checksEnded(started));
}

/** A forge that delays checks leaves each at "checking" until the pull request is read by its number. */
export function delayChecks(world: World, pulls: readonly Pull[]): void {
  for (const pull of pulls)
    replaceCheck(world, pull, { ...newCheck(world, pull), dueAt: Number.POSITIVE_INFINITY });
}

function replaceCheck(world: World, pull: Pull, check: ConflictCheck): void {
  if (isEnded(world, pull.check)) {
    pull.lastCheck = pull.check;
    pull.lastResult = pull.checkResult;
  }
  pull.check = check;
  pull.checkResult = null;
}

/** It is read by its number. */
export function startDelayedCheck(world: World, pull: Pull): void {
  if (pull.check.dueAt === Number.POSITIVE_INFINITY) startChecks(world, [pull]);
}

export function newCheck(world: World, pull: Pick<Pull, 'base' | 'pullHead'>): ConflictCheck {
  const startedAt = world.timers.now();
  return {
    startedAt,
    dueAt: startedAt + world.knobs.checkDelayMs,
    tip: mustTip(world, pull.base),
    head: pull.pullHead,
  };
}

function isEnded(world: World, check: ConflictCheck): boolean {
  return world.timers.now() >= check.dueAt;
}

export function conflictStateOf(world: World, pull: Pull): ConflictState {
  if (!isEnded(world, pull.check)) return 'checking';
  pull.checkResult ??= runCheck(world, pull.check);
  return pull.checkResult;
}

function runCheck(world: World, { tip, head }: ConflictCheck): ConflictState {
  const { objects, merger } = world;
  const fork = mergeBaseAsTold(world, { tip, head });
  if (fork === head) return 'ancestor';
  const [baseTree, tipTree, headTree] = [fork, tip, head].map((sha) => objects.treeOf(sha));
  if (baseTree === undefined || tipTree === undefined || headTree === undefined) return 'conflict';
  if (baseTree === headTree) return 'empty';
  if (world.switches.modesClash && doModesClash(baseTree, tipTree, headTree)) return 'conflict';
  return merger.isClean(baseTree, tipTree, headTree) ? 'mergeable' : 'conflict';
}

function doModesClash(base: StoredTree, ours: StoredTree, theirs: StoredTree): boolean {
  return base.entries.some(({ path, id, mode }) => {
    const [a, b] = [ours.byPath.get(path), theirs.byPath.get(path)];
    if (a === undefined || b === undefined || a.mode === b.mode) return false;
    const isChanged = (entry: TreeEntry) => entry.id !== id || entry.mode !== mode;
    return isChanged(a) && isChanged(b);
  });
}

/** As the forge stored it at the last check that ended. */
export function storedMergeBase(world: World, pull: Pull): CommitSha | null {
  const check = isEnded(world, pull.check) ? pull.check : pull.lastCheck;
  return check === null ? null : mergeBaseAsTold(world, check);
}

/** Of a head without a commit in common the forge tells the tip, and its check merges from there (forge facts, 2). */
function mergeBaseAsTold({ objects }: World, { tip, head }: Pick<ConflictCheck, 'tip' | 'head'>): CommitSha {
  return objects.mergeBase(tip, head) ?? tip;
}

const WIP_PREFIX = /^\s*(wip:|\[wip\])/i;

export function isDraft(pull: { readonly title: string }): boolean {
  return WIP_PREFIX.test(pull.title);
}

/** Where the reading is older than the newest check, the check before it counts. */
function stateAgo(world: World, pull: Pull, lagMs: number): ConflictState {
  if (lagMs === 0 || pull.lastCheck === null || pull.check.startedAt <= world.timers.now() - lagMs)
    return conflictStateOf(world, pull);
  pull.lastResult ??= runCheck(world, pull.lastCheck);
  return pull.lastResult;
}

/** The field `mergeable` of the API: false also while the check runs, true also for nothing to merge. */
export function isMergeable(world: World, pull: Pull, lagMs = 0): boolean {
  const state = stateAgo(world, pull, lagMs);
  return state !== 'checking' && state !== 'conflict' && !isDraft(pull);
}
