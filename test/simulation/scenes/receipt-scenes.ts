import type { Receipt } from '#core/domain/queue/batch.ts';
import { givenProject, givenScheduled, judgeByContent } from '../../scenario/stories.ts';
import { hasAlarm, look, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

/** Scenes about what a receipt says (decision 0227). */

const receiptsOf = async (stage: Stage): Promise<readonly Receipt[]> =>
  (await stage.rows()).flatMap(({ actions }) => actions.flatMap(({ receipt }) => receipt ?? []));

const judge = async (stage: Stage): Promise<readonly string[]> => {
  const told = (await receiptsOf(stage)).map(({ scheduledBy }) => scheduledBy ?? 'not known');
  return String(told) === 'oncall' ? [] : [`the receipt names ${told.join(', ') || 'no scheduler'}`];
};

/** Another person schedules the newer head, and that one lands. */
async function scheduleByAnother(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.reconcile();
  await stage.forge.cancelSchedule(pr);
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer' });
  await stage.forge.scheduleAs('oncall', pr, 'squash');
  await look(stage, 40);
  return judge(stage);
}

/** Two people have scheduled one head each in a pull request of their own, and the forge merges the second. */
async function landTwinOfAnother(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a');
  const { headSha } = await stage.forge.pull(first);
  const twin = await stage.forge.openPullRequest({ branch: 'twin', head: headSha });
  await stage.forge.scheduleAs('oncall', twin, 'squash');
  stage.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await look(stage, 40);
  return judge(stage);
}

/** The author of the landing is told of it by mail: of a twin that is its own author. */
async function landTwinOfOtherAuthor(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a');
  const { headSha } = await stage.forge.pull(first);
  const twin = await stage.forge.openPullRequest({ branch: 'twin', head: headSha, author: 'ann' });
  await stage.forge.schedule(twin, 'squash');
  stage.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await look(stage, 40);
  const landed = (await stage.events()).filter(({ event }) => event === 'pr_landed');
  const named = landed.map(({ pr, author }) => `#${pr} by ${author ?? 'nobody'}`);
  return String(named) === `#${twin} by ann` ? [] : [`landed: ${named.join(', ') || 'none'}`];
}

/** An earlier head has an approval of another person, and the head that lands one of its own. */
async function approveByAnother(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredApprovals: 1 });
  const pr = await stage.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' } });
  await stage.forge.review(pr, 'earlier', 'approve');
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer' });
  await stage.forge.review(pr, 'oncall', 'approve');
  await stage.clock.advance(60_000);
  await stage.forge.schedule(pr, 'squash');
  await look(stage, 40);
  const approvers = (await receiptsOf(stage)).map(
    ({ approvedBy }) => approvedBy?.join(' and ') ?? 'not known',
  );
  return String(approvers) === 'oncall' ? [] : [`the receipt is of an approval by ${approvers.join(', ')}`];
}

/** The forge merges the twin, and for a while its merge commit cannot be read: it is no merge past the queue. */
async function landUnreadTwin(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a');
  const twin = await forge.openPullRequest({ branch: 'twin', head: (await forge.pull(first)).headSha });
  await forge.schedule(twin, 'squash');
  forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  let until: number | null = null;
  forge.fault = ({ method, path }) => {
    if (!forge.isMerged(twin)) return null;
    until ??= clock.now() + 45_000;
    const isOfMerge = method === 'GET' && path.includes('/commits') && !path.includes('/status');
    return isOfMerge && clock.now() < until ? { status: 502 } : null;
  };
  await look(stage, 40);
  if (!forge.isMerged(twin)) return ['the scene did not come about'];
  return hasAlarm(stage, 'unverified_landing')
    ? ['a landing by its twin was told as a merge past the queue']
    : [];
}

/** The forge merges the twin of the first of a batch; the one behind shows the tip, which does not say which of both it was. */
async function landTwinBeforeAnother(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a');
  const second = await givenScheduled(forge, 'b');
  const twin = await forge.openPullRequest({ branch: 'twin', head: (await forge.pull(first)).headSha });
  await forge.schedule(twin, 'squash');
  let isSlow = true;
  forge.mergeBehaviour = (pr) =>
    pr === first || (pr === second && isSlow) ? { kind: 'lost' } : { kind: 'now' };
  await stage.drain({ until: () => forge.isMerged(twin) });
  await look(stage, 4);
  isSlow = false;
  await look(stage, 40);
  const told = (await stage.events()).flatMap(({ event, pr }) =>
    event === 'pr_landed' || event === 'pr_skipped' ? [`${event} #${pr}`] : [],
  );
  const isRight = String(told.toSorted()) === `pr_landed #${second},pr_landed #${twin}`;
  return isRight ? [] : [`told: ${told.join(', ')}`];
}

/** Both verdicts of two outlive their batch: when they are staged again, the row of the one that fails is resolved first. */
async function landBesideKnownFailure(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 2 } });
  const { forge, clock } = stage;
  await givenProject(forge);
  forge.judge = judgeByContent;
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const good = await givenScheduled(forge, 'a');
  await givenScheduled(forge, 'b', 'BAD\n');
  await stage.drain({ until: async () => (await wordOn(stage, good)) === 'success' });
  await stage.settings({ queueEnabled: false });
  await clock.advance(60_000);
  await stage.drain({ maxMs: 5 * 60_000 });
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await stage.settings({ queueEnabled: true, enabledAt: clock.now() });
  await clock.advance(60_000);
  await stage.drain();
  if (!forge.isMerged(good)) return ['the scene did not come about'];
  const rows = (await stage.rows()).filter(({ actions }) =>
    actions.some(({ receipt }) => receipt !== undefined),
  );
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) return ['a landing has no receipt in any row'];
  const receipt = row.actions.find((action) => action.receipt !== undefined)?.receipt;
  const isOfRun = receipt?.runUrl === row.runUrl && receipt?.stagedSha === row.stagingSha;
  return isOfRun ? [] : ['the row of a landing names another gate run than its receipt'];
}

export const RECEIPT_SCENES = {
  'a newer head is scheduled by another person': scheduleByAnother,
  'a twin was scheduled by another person': landTwinOfAnother,
  'a twin of another author landed': landTwinOfOtherAuthor,
  'the merge of a twin cannot be read for a while': landUnreadTwin,
  'the forge merges the twin of the first of a batch': landTwinBeforeAnother,
  'one lands before another whose failure is known': landBesideKnownFailure,
  'an earlier head was approved by another person': approveByAnother,
} satisfies Scenes;
