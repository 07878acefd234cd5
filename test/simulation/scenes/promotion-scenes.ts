import type { PullRequest } from '#core/domain/forge/forge.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes in which the base itself heads a pull request to another branch: a fast-forward moves its head. */

const MINUTE_MS = 60_000;

async function givenRelease(options: Parameters<typeof setStage>[0] = {}): Promise<Stage> {
  const stage = await setStage({ ...options, repo: { mergeStyle: 'rebase' } });
  const { forge } = stage;
  // The check is over before the success is taken back.
  forge.checkDelayMs = 100;
  await givenProject(forge);
  await forge.pushBranch('release', await forge.tip(forge.base));
  await forge.pushToBase({ 'n.txt': 'n\n' });
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, 'release');
  return stage;
}

async function schedulePromotion({ forge, clock }: Stage): Promise<number> {
  const head = await forge.tip(forge.base);
  const promotion = await forge.openPullRequest({ branch: forge.base, head, base: 'release' });
  await forge.schedule(promotion, 'merge');
  await clock.advance(5_000);
  return promotion;
}

async function landBesidePromotion(): Promise<readonly string[]> {
  return landBeside(await givenRelease());
}

/** The check of a head that has become up to date, by a landing of what it stands on, is still that of the base before. */
async function landBesidePromotionCheckedLate(): Promise<readonly string[]> {
  let before: string | null = null;
  const late = (pull: PullRequest): PullRequest =>
    pull.baseRef === 'release' || before === null ? pull : { ...pull, mergeBase: before };
  const stage = await givenRelease({
    wrapForge: (forge) => ({
      ...forge,
      readPullRequest: async (pr) => late(await forge.readPullRequest(pr)),
      listOpenPullRequests: async () => (await forge.listOpenPullRequests()).map(late),
    }),
  });
  before = await stage.forge.tip('release');
  return landBeside(stage);
}

async function landBeside(stage: Stage): Promise<readonly string[]> {
  const promotion = await schedulePromotion(stage);
  const pr = await givenScheduled(stage.forge, 'a', 'a\n', { style: 'rebase' });
  // The success cannot be taken back at once, as at any time.
  stage.forge.fault = ({ method, path }) =>
    method === 'POST' && path.includes('/statuses/') && stage.forge.isMerged(pr) ? { status: 502 } : null;
  await stage.drain({ maxMs: 10 * MINUTE_MS });
  return stage.forge.isMerged(promotion) ? ['the base was merged into another branch unproven'] : [];
}

async function landBehindBesidePromotion(): Promise<readonly string[]> {
  const stage = await givenRelease();
  const promotion = await schedulePromotion(stage);
  const pr = await givenScheduled(stage.forge, 'a', 'a\n', { style: 'rebase' });
  await stage.forge.pushToBase({ 'z.txt': 'z\n' });
  await stage.clock.advance(5_000);
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  if (stage.forge.isMerged(promotion)) return ['the base was merged into another branch unproven'];
  return stage.forge.isMerged(pr) ? [] : ['one whose landing moves no head is kept back'];
}

export const PROMOTION_SCENES = {
  'the base heads a pull request to another branch': landBesidePromotion,
  'the base heads a pull request to another branch, and a check is late': landBesidePromotionCheckedLate,
  'a head behind the base lands beside a pull request from there': landBehindBesidePromotion,
} satisfies Scenes;
