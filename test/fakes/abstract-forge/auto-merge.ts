import type { CommitSha } from '#core/domain/ids.ts';
import { conflictStateOf, isDraft } from './checks.ts';
import { mergePull } from './landing.ts';
import { JOB_ACCOUNTS, mayWrite } from './rights.ts';
import { findRuleViolation, isOnMergeList, requiredStatusesPass } from './rules.ts';
import {
  liveHeadOf,
  mustTip,
  type Pull,
  type ScheduleRow,
  type StartedCheck,
  setPullState,
  setSchedule,
  type World,
} from './world.ts';

/** From a merge that failed to the end of the next check (a Gitea 1.26.4 tried every two to four seconds). */
const RECHECK_MS = 3_000;

/** A pull request that is still being checked is passed over: the success is lost on it (E4). */
export function triggerByStatus(world: World, sha: CommitSha): void {
  for (const pull of world.scheduledPulls) {
    if (pull.pullHead === sha && conflictStateOf(world, pull) === 'mergeable') queueAutoMerge(world, pull);
  }
}

/** `services/pull/check.go`, `manuallyMerged`: the base holds the head, so the oldest merge above it counts as its own. */
export function detectMerges(world: World, started: readonly StartedCheck[]): void {
  if (!world.switches.autodetectsMerges) return;
  for (const { pull, check } of started) {
    if (pull.check !== check || pull.state !== 'open' || conflictStateOf(world, pull) !== 'ancestor')
      continue;
    const tip = mustTip(world, pull.base);
    const merges = world.objects
      .listMissingCommits(pull.pullHead, tip)
      .filter(({ sha, parents }) => parents.length > 1 && world.objects.isAncestor(pull.pullHead, sha));
    pull.mergeCommit = merges[0]?.sha ?? pull.pullHead;
    setPullState(world, pull, 'closed');
    setSchedule(world, pull, null);
  }
}

/** A check that was overtaken by a newer one has no outcome. */
export function triggerByEndedChecks(world: World, started: readonly StartedCheck[]): void {
  if (!world.switches.recheckTriggers) return;
  for (const { pull, check } of started) {
    if (pull.check !== check || !world.scheduledPulls.has(pull)) continue;
    // Cheap refusal first; the handler would refuse all the same.
    if (!requiredStatusesPass(world, pull, pull.pullHead)) continue;
    if (conflictStateOf(world, pull) === 'mergeable') queueAutoMerge(world, pull);
  }
}

export function queueAutoMerge(world: World, pull: Pull): void {
  const sha = pull.pullHead;
  const key = `${pull.number} ${sha}`;
  if (world.queuedMerges.has(key)) return;
  const behaviour = world.knobs.mergeBehaviour(pull.number);
  if (behaviour.kind === 'lost') return;
  world.queuedMerges.add(key);
  const slowMs = behaviour.kind === 'slow' ? behaviour.ms : 0;
  const { autoMergeMs } = world.delays;
  const { mergesUncheckedHead, mergesHeadItBeganWith } = world.switches;
  if ((mergesUncheckedHead || mergesHeadItBeganWith) && slowMs > 0) {
    world.timers.after(autoMergeMs, () => {
      const row = findMergeRow(world, pull, sha);
      if (row === null) world.queuedMerges.delete(key);
      else {
        world.timers.after(slowMs, () => {
          world.queuedMerges.delete(key);
          if (pull.mergeCommit !== null || pull.state !== 'open') return;
          carryOut(world, pull, row, mergesHeadItBeganWith ? sha : undefined);
        });
      }
    });
    return;
  }
  world.timers.after(autoMergeMs + slowMs, () => {
    world.queuedMerges.delete(key);
    const row = findMergeRow(world, pull, sha);
    if (row !== null) carryOut(world, pull, row);
  });
}

/** The checks of the forge's queue handler; null = it only writes a line to its log. */
function findMergeRow(world: World, pull: Pull, sha: CommitSha): ScheduleRow | null {
  const row = pull.schedule;
  if (row === null || pull.mergeCommit !== null || pull.state !== 'open') return null;
  // The account of a job's token is in no table of users.
  if (JOB_ACCOUNTS.has(row.doer)) return null;
  if (pull.pullHead !== sha) return null;
  const head = liveHeadOf(world, pull);
  if (head === undefined || !requiredStatusesPass(world, pull, head)) return null;
  if (pull.fork && !pull.agit && world.switches.forkPermission && row.doer !== pull.author) return null;
  // The fork is asked there; elsewhere who scheduled needs the right to write here.
  const mayMerge = isOnMergeList(world, pull, row.doer);
  if (mayMerge === false) return null;
  if (mayMerge === null && !(pull.fork && world.switches.forkPermission) && !mayWrite(world, row.doer))
    return null;
  const state = conflictStateOf(world, pull);
  if (isDraft(pull) || (state !== 'mergeable' && state !== 'empty')) return null;
  return findRuleViolation(world, pull) === null ? row : null;
}

function carryOut(world: World, pull: Pull, row: ScheduleRow, begunWith?: CommitSha): void {
  if (world.switches.rowDeletedBeforeMerge) setSchedule(world, pull, null);
  if (
    hasNamesake(world, pull.base) ||
    world.knobs.mergeFails(pull.number) ||
    world.forbiddenStyles.has(row.style) ||
    // No program takes it as an argument.
    (row.style !== 'rebase' && row.title.includes('\0'))
  )
    return tryAgain(world, pull);
  mergePull(world, pull, row.style, row.doer, begunWith);
}

/** Gitea checks it for conflicts once more, and tries again at the end of that, as long as schedule and success stand. */
function tryAgain(world: World, pull: Pull): void {
  if (!world.switches.recheckTriggers) return;
  world.timers.after(RECHECK_MS, () => {
    if (!world.scheduledPulls.has(pull) || !requiredStatusesPass(world, pull, pull.pullHead)) return;
    if (conflictStateOf(world, pull) === 'mergeable') queueAutoMerge(world, pull);
  });
}

/** Git pushes a merge to the base by its full name, which a branch or tag of that name has as well: it takes neither. */
function hasNamesake({ branches, tags }: World, base: string): boolean {
  const name = `refs/heads/${base}`;
  return branches.has(name) || tags.has(name);
}
