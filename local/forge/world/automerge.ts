import type { MergeStyle, PullRecord, RepoRecord } from '../model.ts';
import { hasAccess, headTip, repoById, type World } from '../world.ts';
import { checkMergeable, mergePull } from './merge.ts';
import { mayMerge, requiredStatusesPass, ruleFor } from './protection.ts';
import { addEntry } from './timeline.ts';

export interface ScheduleRequest {
  readonly doer: string;
  readonly style: MergeStyle;
  readonly title: string;
  readonly message: string;
  readonly deleteBranch: boolean;
}

/** Stores no head SHA. Null when there is a row already, no matter who made it. */
export function scheduleMerge(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  request: ScheduleRequest,
): 'scheduled' | 'already' {
  if (pull.schedule !== null) return 'already';
  pull.schedule = { ...request, titleThen: pull.title, at: world.timers.now() };
  addEntry(world, pull, 'pull_scheduled_merge', request.doer);
  if (world.profile.queueAtScheduling) world.queueAutoMerge(repo, pull, pull.headSha);
  return 'scheduled';
}

export function cancelSchedule(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  user: string,
): 'cancelled' | 'none' | 'forbidden' {
  if (pull.schedule === null) return 'none';
  const others = world.profile.cancelNeedsMergeOnly
    ? mayMerge(world, repo, pull, user)
    : hasAccess(world, repo, user, 'admin');
  if (pull.schedule.doer !== user && !others) return 'forbidden';
  pull.schedule = null;
  addEntry(world, pull, 'pull_cancel_scheduled_merge', user);
  return 'cancelled';
}

/** The queue is unique per pull request and head. Triggers without a schedule row die here, as they do there. */
export function queueAutoMerge(world: World, repo: RepoRecord, pull: PullRecord, sha: string): void {
  if (pull.schedule === null) return;
  const behaviour = world.knobs.mergeBehaviour(pull.index);
  if (behaviour.kind === 'lost') return;
  const delayMs = behaviour.kind === 'slow' ? behaviour.ms : 0;
  world.background.enqueue(delayMs, () => attemptMerge(world, repo, pull, sha), {
    key: `merge ${pull.id}_${sha}`,
  });
}

/** Every refusal is silent: no retry, no comment, no timeline entry. */
async function attemptMerge(world: World, repo: RepoRecord, pull: PullRecord, sha: string): Promise<void> {
  const row = pull.schedule;
  if (row === null || pull.headSha !== sha) return;
  const headRepo = repoById(world, pull.headRepoId);
  if (headRepo === undefined) return;
  const branchTip = headTip(world, pull);
  if (branchTip === null) return;
  const rule = ruleFor(world, repo, pull.base);
  // Of the branch tip as it is now, looked up in the base repo.
  if (rule !== null && !requiredStatusesPass(world, repo, rule, branchTip)) return;
  if (rule?.enable_merge_whitelist !== true) {
    const asked = world.profile.permissionOnHeadRepo ? headRepo : repo;
    if (!hasAccess(world, asked, row.doer, 'write')) return;
  }
  if (checkMergeable(world, repo, pull, row.doer, 'auto') !== null) return;
  if (world.profile.rowDeletedBeforeMerge) {
    pull.schedule = null;
    world.store.changed();
  }
  // The message is of the time at which it was scheduled, and no program takes a NUL as an argument.
  if (row.style !== 'rebase' && row.titleThen?.includes('\0') === true) return;
  await mergePull(world, repo, pull, row);
}
