import type { CommitSha } from '#core/domain/ids.ts';
import { delayChecks, startChecks } from './checks.ts';
import { queueGateRun } from './gate.ts';
import { forkRef, noteMove } from './past.ts';
import { ruleOf } from './rules.ts';
import { addTimelineEntry, forkKey, type Pull, setPullState, type World, writeJournal } from './world.ts';

/** A name that is there, or that git cannot hold beside the others: `a` and `a/b` exclude each other. */
export function isNameTaken(world: World, branch: string): boolean {
  return world.branches.has(branch) || isNameInTheWay(world, branch);
}

export function isNameInTheWay(world: World, branch: string): boolean {
  return refsInTheWay(world, branch).length > 0;
}

export function refsInTheWay(world: World, branch: string): readonly string[] {
  return [...world.branches.keys()].filter(
    (other) => other.startsWith(`${branch}/`) || branch.startsWith(`${other}/`),
  );
}

/** A push: moves or creates the branch and sets off everything that follows from it. */
export function moveBranch(world: World, branch: string, to: CommitSha, by: string): void {
  world.branches.set(branch, to);
  world.halfMade.delete(branch);
  noteMove(world, branch, to);
  writeJournal(world, { kind: 'push', at: world.timers.now(), branch, to, by });
  startChecksOfBase(world, branch);
  for (const pull of world.openPulls.values()) {
    if (!pull.fork && pull.branch === branch) takePush(world, pull, to, by);
  }
  queueGateRun(world, branch);
}

export function moveForkBranch(world: World, owner: string, branch: string, to: CommitSha, by = owner): void {
  world.forkBranches.set(forkKey(owner, branch), to);
  noteMove(world, forkRef(owner, branch), to);
  for (const pull of world.openPulls.values()) {
    if (pull.fork && pull.author === owner && pull.branch === branch) takePush(world, pull, to, by);
  }
}

function takePush(world: World, pull: Pull, head: CommitSha, by: string): void {
  if (pull.pullHead === head) return;
  const before = describeDiff(world, pull);
  pull.pullHead = head;
  startChecks(world, [pull]);
  const changed = describeDiff(world, pull) !== before;
  const dismiss = ruleOf(world, pull.base)?.dismissStaleApprovals === true;
  pull.reviews.forEach((review, i) => {
    const stale = changed ? review.commit !== head : review.stale && review.commit !== head;
    const dismissed = review.dismissed || (dismiss && changed && review.state === 'approved' && stale);
    pull.reviews[i] = { ...review, stale, dismissed };
  });
  const { pushEntryMs } = world.delays;
  if (pushEntryMs === 0) addTimelineEntry(world, pull, 'pushed', by, head);
  else world.timers.after(pushEntryMs, () => addTimelineEntry(world, pull, 'pushed', by, head));
}

function describeDiff(world: World, pull: Pull): string {
  const tip = world.branches.get(pull.base);
  const fork = tip === undefined ? null : world.objects.mergeBase(tip, pull.pullHead);
  if (fork === null) return pull.pullHead;
  return world.merger.describeDiff(world.objects.treeOf(fork), world.objects.treeOf(pull.pullHead));
}

/** Also after an edit of the branch rule: the forge checks every pull request of the base again. */
export function startChecksOfBase(world: World, base: string): void {
  const pulls = [...world.openPulls.values()].filter((pull) => pull.base === base);
  if (world.knobs.delaysChecks) delayChecks(world, pulls);
  else startChecks(world, pulls);
}

/** Deleting a branch closes the open pull requests that come from it or go to it. */
export function removeBranch(world: World, branch: string, by: string): void {
  if (!world.branches.delete(branch)) return;
  world.halfMade.delete(branch);
  noteMove(world, branch, null);
  writeJournal(world, { kind: 'push', at: world.timers.now(), branch, to: null, by });
  for (const pull of [...world.openPulls.values()]) {
    if (pull.base !== branch && (pull.fork || pull.branch !== branch)) continue;
    setPullState(world, pull, 'closed');
    addTimelineEntry(world, pull, 'other', by);
  }
}

/** A base, as Gitea does it: open pull requests to it go along without an entry, and so does its rule. */
export function renameBranch(world: World, from: string, to: string, by: string): void {
  const tip = world.branches.get(from);
  if (tip === undefined || isNameTaken(world, to)) throw new Error(`${from} cannot become ${to}`);
  world.branches.delete(from);
  world.branches.set(to, tip);
  noteMove(world, from, null);
  noteMove(world, to, tip);
  const at = world.timers.now();
  writeJournal(world, { kind: 'push', at, branch: from, to: null, by });
  writeJournal(world, { kind: 'push', at, branch: to, to: tip, by });
  const rule = world.rules.get(from);
  world.rules.delete(from);
  if (rule !== undefined) world.rules.set(to, rule);
  for (const pull of world.openPulls.values()) if (pull.base === from) pull.base = to;
}
