import { mayOpenMerge } from '#core/domain/forge/forge.ts';
import { pullPageOf, queuePageOf } from '#core/domain/notices/service-pages.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { assertNever } from '#core/domain/result.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { type EngineForge, ForgeError, type ForgeErrorKind, ReadNotBegun } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import type { Action, ActionOutcome } from '../queue/actions.ts';
import { isGone } from '../reading/is-gone.ts';
import type { ToldSettings } from '../reading/settings-changes.ts';
import { ChangeWriter } from '../staging/change-writer.ts';
import { ReadingUnfinished, type RepoObjects } from '../staging/repo-objects.ts';
import { stageBatch } from '../staging/stage-batch.ts';
import { NameInTheWay, publishTree } from '../staging/stage-trees.ts';
import type { ReconcilerDeps } from './reconciler-deps.ts';

export interface PerformDeps {
  readonly forge: EngineForge;
  readonly objects: RepoObjects;
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly baseBranch: string;
  readonly queueName: string;
  /** How the forge lands: what is staged has to come to the same tree. */
  readonly mergeStyle: MergeStyle;
  readonly isOutOfTime: () => boolean;
  /** To tell authors what their change of the settings file would set. */
  readonly settings: ToldSettings;
  /** Address of the page of this queue; null: it has none. */
  readonly queuePage: string | null;
}

/** Carries one action out, unless the lease is past its deadline (A41). Forge errors are thrown; what is expected is an outcome. */
export async function perform(held: HeldLease, deps: PerformDeps, action: Action): Promise<ActionOutcome> {
  if (held.isPastDeadline()) return { kind: 'failed', forgeAnswers: false };
  switch (action.kind) {
    case 'stage_batch':
      return expectHindrances(() => stageBatch({ ...deps, writer: new ChangeWriter(deps) }, action));
    case 'stage_tree':
      return expectHindrances(() => stageTree(deps, action));
    case 'post_status':
      return postStatus(deps, action);
    case 'probe_schedule':
      return {
        kind: 'schedule',
        found: await deps.forge.probeSchedule(action.pr, action.head, action.scheduleId),
      };
    case 'delete_branch':
      return deleteBranch(deps, action.branch);
    case 'cancel_gate_run':
      return cancelGateRun(deps.forge, action.runKey);
    default:
      return assertNever(action);
  }
}

/** Address of the page of this queue; null: this service has none. */
export function queuePageFor(
  { serviceUrl }: Pick<ReconcilerDeps, 'serviceUrl'>,
  repo: Pick<ManagedRepo, 'id'>,
): string | null {
  return serviceUrl === undefined ? null : queuePageOf(serviceUrl, repo);
}

async function stageTree(
  deps: PerformDeps,
  action: Extract<Action, { kind: 'stage_tree' }>,
): Promise<ActionOutcome> {
  const { baseBranch, queueName } = deps;
  const { commit, ...left } = await publishTree(
    { ...deps, writer: new ChangeWriter(deps) },
    { ...action, baseBranch, queueName },
  );
  if (commit === 'base_moved') return { kind: 'base_moved', ...left };
  return { kind: 'tree_staged', sha: commit.sha, ...left };
}

/** Words without a gate run of their own link to the page that tells the story of the pull request. */
async function postStatus(
  { forge, queuePage, baseBranch }: PerformDeps,
  action: Extract<Action, { kind: 'post_status' }>,
): Promise<ActionOutcome> {
  try {
    await forge.postStatus(action.sha, {
      state: action.state,
      context: action.context,
      description: action.description,
      targetUrl: action.targetUrl ?? (queuePage === null ? null : pullPageOf(queuePage, action.pr)),
    });
    return { kind: 'done' };
  } catch (error) {
    if (action.purpose !== 'pending' || !(await isGone(forge, baseBranch, error))) throw error;
    if (action.takesBack === true && (await isSuccessRead(forge, action))) throw error;
    // The commit is gone with its branch: there is nothing left that a status could open.
    return { kind: 'gone' };
  }
}

/** A commit that wears a success is not gone, whatever the forge has answered to a status. */
async function isSuccessRead(
  forge: EngineForge,
  { sha, context }: Extract<Action, { kind: 'post_status' }>,
): Promise<boolean> {
  try {
    const statuses = await forge.readStatuses(sha);
    return statuses.some((each) => each.context === context && mayOpenMerge(each));
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    // One that cannot be read may wear it.
    return error.kind !== 'missing';
  }
}

/** A repository that hides from the bot answers that there is no such branch; the look at the base throws then. */
async function deleteBranch({ forge, baseBranch }: PerformDeps, branch: string): Promise<ActionOutcome> {
  if (!(await forge.deleteBranch(branch))) await forge.readBranchTip(baseBranch);
  return { kind: 'done' };
}

/** Outcomes that keep staging from its end and are no failure of the forge. */
async function expectHindrances(stage: () => Promise<ActionOutcome>): Promise<ActionOutcome> {
  try {
    return await stage();
  } catch (error) {
    // Objects that were read are kept for the next reconcile.
    if (error instanceof ReadingUnfinished || error instanceof ReadNotBegun) return { kind: 'unfinished' };
    if (error instanceof NameInTheWay)
      return { kind: 'name_in_the_way', ref: error.ref, branch: error.branch };
    throw error;
  }
}

/** Answers to a cancel where nothing is there to be cancelled, or the token may not. */
const NOT_CANCELLED: readonly ForgeErrorKind[] = ['missing', 'rejected', 'denied'];

/** A token may have a right to the code and none to Actions: then the run goes on, and its branch is removed all the same. */
async function cancelGateRun(forge: EngineForge, runKey: string): Promise<ActionOutcome> {
  try {
    await forge.cancelGateRun(runKey);
  } catch (error) {
    if (!(error instanceof ForgeError && NOT_CANCELLED.includes(error.kind))) throw error;
  }
  return { kind: 'done' };
}
