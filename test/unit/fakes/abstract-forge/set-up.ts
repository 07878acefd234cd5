import { renderPatch } from '../../../../engine-container/src/staging/patch.ts';
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

/** Stages one pull request on a branch's tip as the engine does; `newBranch` absent = moves the branch. */
export async function stage(
  control: AbstractForge,
  pr: number,
  branch: string,
  newBranch?: string,
  message = 'stage',
) {
  const bot = control.forge;
  const pull = await bot.readPullRequest(pr);
  const tip = await control.tip(branch);
  const fork = await bot.readMergeBase(tip, pull.headSha);
  const [base, ours, theirs] = await Promise.all(
    [fork ?? '', tip, pull.headSha].map((sha) => bot.readTree(sha)),
  );
  const plan = planMerge({ base: base ?? [], ours: ours ?? [], theirs: theirs ?? [] });
  if (plan.kind === 'conflict') throw new Error('conflict in the plan');
  const commit = await bot.applyPatch({
    branch,
    ...(newBranch === undefined ? {} : { newBranch }),
    patch: renderPatch(plan.changes),
    message,
    mayConflict: plan.contentMerges.length > 0,
  });
  return { plan, commit };
}
