import type { EngineForge } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import { findMergeBase } from '../../../../engine-container/src/staging/merge-base.ts';
import { renderPatch } from '../../../../engine-container/src/staging/patch.ts';
import { RepoObjects } from '../../../../engine-container/src/staging/repo-objects.ts';
import { planMerge } from '../../../../engine-container/src/staging/three-way.ts';
import {
  type AbstractForge,
  type AbstractForgeOptions,
  createAbstractForge,
} from '../../../fakes/abstract-forge/index.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

export const STAGING = 'mq/main/staging';

export function setUp(options: Omit<AbstractForgeOptions, 'clock'> = {}) {
  const clock = new VirtualClock();
  const control = createAbstractForge({ clock, ...options });
  return { clock, control, bot: control.forge };
}

export async function openScheduled(
  control: AbstractForge,
  name: string,
): Promise<{ pr: number; head: string }> {
  const pr = await control.openPullRequest({ branch: name, files: { [`${name}.txt`]: `${name}\n` } });
  await control.schedule(pr);
  return { pr, head: (await control.pull(pr)).headSha };
}

export function success(
  control: AbstractForge,
  sha: string,
  state: 'success' | 'pending' | 'error' = 'success',
) {
  return control.forge.postStatus(sha, { state, context: 'mq', description: '', targetUrl: null });
}

/** The engine's plan of merging a pull request into a commit. */
export async function planPull(bot: EngineForge, tip: string, pr: number) {
  const { headSha } = await bot.readPullRequest(pr);
  const fork = await findMergeBase(bot, headSha, await bot.listOwnCommits(tip, headSha), new Set());
  const objects = new RepoObjects(bot, new RepoDirectories(), () => false);
  const [base, ours, theirs] = [
    await objects.treeOf(fork ?? ''),
    await objects.treeOf(tip),
    await objects.treeOf(headSha),
  ];
  return { objects, plan: await objects.run(planMerge(objects, { base, ours, theirs })) };
}

/** Stages one pull request on a branch's tip as the engine does; `newBranch` absent = moves the branch. */
export async function stage(
  control: AbstractForge,
  pr: number,
  branch: string,
  newBranch?: string,
  message = 'stage',
) {
  const bot = control.forge;
  const { objects, plan } = await planPull(bot, await control.tip(branch), pr);
  if (plan.kind === 'refused') throw new Error(`refused: ${plan.reason}`);
  const commit = await bot.applyPatch({
    branch,
    ...(newBranch === undefined ? {} : { newBranch }),
    patch: await renderPatch(plan.changes, (id) => objects.contentOf(id)),
    message,
  });
  return { plan, commit };
}
