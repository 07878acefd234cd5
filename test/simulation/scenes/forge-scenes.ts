import { TAKE_BACK_GRACE_MS, TICK_INTERVAL_MS, UNHEARD_LOOK_MS_MAX } from '#core/domain/limits.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { LATE_PUSH_ENTRY_MS } from '../../../engine-container/src/queue/admission/eligibility.ts';
import { giveUpFirst, postsSuccess } from '../../scenario/late-call.ts';
import { givenProject, givenScheduled, judgeByContent, staleSuccesses } from '../../scenario/stories.ts';
import { look, type Scenes, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes in which the forge is not what the queue took it for. */

const TWO_MINUTES_MS = 120_000;

/** The success is carried out two minutes after its caller gave it up, and its schedule was cancelled meanwhile. */
async function successComesTwoMinutesLate(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.lateEffectMs = TWO_MINUTES_MS;
  // So many that the patrol, which looks at all statuses in turn, does not come by.
  for (let other = 1; other <= 12; other += 1)
    await stage.forge.openPullRequest({ branch: `other-${other}`, files: { [`other-${other}.txt`]: 'x\n' } });
  const pr = await givenScheduled(stage.forge, 'a');
  const { headSha } = await stage.forge.pull(pr);
  const wasGivenUp = giveUpFirst(stage.forge, postsSuccess(headSha));
  await stage.drain({ until: wasGivenUp });
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await stage.forge.cancelSchedule(pr);
  await look(stage, Math.ceil((TWO_MINUTES_MS + TAKE_BACK_GRACE_MS + UNHEARD_LOOK_MS_MAX) / 30_000) + 1);
  if (!stage.forge.statusHistory(headSha).some(({ state }) => state === 'success'))
    return ['the scene did not come about'];
  return (await staleSuccesses(stage.forge, [pr])).length === 0 ? [] : ['a success that came late stands'];
}

/** The head of a batch is proposed for another guarded branch when its run ends: no look at all comes before its turn. */
async function twinAppearsLate(): Promise<readonly string[]> {
  let head = '';
  let opened = false;
  const stage = await setStage({
    onEntry: (entry, { clock, forge }) => {
      if (entry.kind !== 'run' || opened) return;
      opened = true;
      clock.after(0, async () => {
        await forge.pushBranch('release', await forge.tip('main'));
        await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, 'release');
        const twin = await forge.openPullRequest({ branch: 'twin', head, base: 'release' });
        await forge.schedule(twin, 'squash');
      });
    },
  });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 2_000;
  head = (await stage.forge.pull(await givenScheduled(stage.forge, 'a'))).headSha;
  // Its success waits for no late entry of a push, and so for no other look at everything.
  await stage.clock.advance(LATE_PUSH_ENTRY_MS);
  await look(stage, 4);
  if (!opened) return ['the scene did not come about'];
  const elsewhere = stage.forge.journal().some((entry) => entry.kind === 'merge_elsewhere');
  return elsewhere ? ['a success for one base merged into another'] : [];
}

/** Scheduled within the second in which it was looked at: its time stamp does not change by that. */
async function scheduleWithinTheSecond(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await stage.forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'a\n' } });
  await stage.reconcile();
  await stage.forge.schedule(pr, 'squash');
  await look(stage, 8);
  return stage.forge.isMerged(pr) ? [] : ['a schedule was never seen'];
}

/**
 * A success of before stands on a head when it is scheduled, and the forge does not say which account ours is: it cannot
 * be taken back yet, and opens the merge meanwhile.
 */
async function successOfBefore(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  // The record is no new one: that would be a reason of its own to wait.
  await givenScheduled(stage.forge, 'earlier');
  await stage.drain();
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await stage.forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'x\n' } });
  await look(stage, 2);
  const { headSha } = await stage.forge.pull(pr);
  await stage.forge.postStatusAs('mq-bot', headSha, DEFAULT_SERVICE_NAME, 'success');
  stage.forge.fault = ({ path }) => (path.endsWith('/user') ? { status: 502 } : null);
  await stage.forge.schedule(pr, 'squash');
  await look(stage, 4);
  const problems = stage.forge.runs().length === 1 ? [] : ['a run for a head whose merge is open already'];
  if ((await wordOn(stage, pr)) !== 'success') return ['the scene did not come about'];
  stage.forge.fault = () => null;
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  await stage.drain({ maxMs: 30 * 60_000 });
  return stage.forge.isMerged(pr) ? problems : [...problems, 'one waits for ever for a success of before'];
}

/** From its success on a pull request cannot be read any more, and its merge does not come. */
async function landingGoesUnread(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const prs = [await givenScheduled(stage.forge, 'a'), await givenScheduled(stage.forge, 'b')];
  const [first, second] = prs;
  stage.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await stage.drain({ until: async () => (await wordOn(stage, first ?? 0)) === 'success' });
  stage.forge.fault = ({ path }) => (path.endsWith(`/pulls/${first}`) ? { status: 502 } : null);
  await stage.drain({ maxMs: 40 * 60_000 });
  const problems: string[] = [];
  if (!stage.forge.isMerged(second ?? 0)) problems.push('another one waits for one that cannot be read');
  if ((await staleSuccesses(stage.forge, prs)).length > 0)
    problems.push('a success stands that no look reads');
  return problems;
}

/** The tip of the base tells the forge to start no run, and a batch on it fails: the base is probed all the same. */
async function silentBase(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const title = 'Say more [skip ci]';
  const silent = await stage.forge.openPullRequest({ branch: 'docs', title, files: { 'docs.md': 'more\n' } });
  await stage.forge.mergeByHand(silent);
  stage.forge.judge = judgeByContent;
  await givenScheduled(stage.forge, 'bad', 'BAD\n');
  const good = await givenScheduled(stage.forge, 'good');
  await stage.clock.advance(60_000);
  await stage.drain({ maxMs: 60 * 60_000 });
  return stage.forge.isMerged(good) ? [] : ['a base that says "skip ci" keeps all waiting'];
}

/** Another required check says that it was skipped, beside one that passed: the forge takes that for passed. */
async function otherCheckSkipped(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, 'ci/*'] });
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  await forge.postStatusAs('ci', headSha, 'ci/docs', 'skipped');
  await forge.postStatusAs('ci', headSha, 'ci/lint', 'success');
  await look(stage, 6);
  return forge.isMerged(pr) ? [] : [`it waits: ${await wordsOn(stage, pr)}`];
}

/** Another account writes a word that the forge does not know under the context of the queue: it opens the merge. */
async function unknownWordByAnother(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  await look(stage, 1);
  await forge.postStatusAs('mallory', headSha, DEFAULT_SERVICE_NAME, 'no such word');
  await look(stage, 1);
  await forge.review(pr, 'reviewer', 'approve');
  await stage.clock.advance(TWO_MINUTES_MS);
  return forge.isMerged(pr) ? ['what another account let pass landed unproven'] : [];
}

/** Another account says success for us, on a head whose review is still to come (A7): it must not open the gate then. */
async function forgeSuccess(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 1);
  const { headSha } = await stage.forge.pull(pr);
  await stage.forge.postStatusAs('stranger', headSha, DEFAULT_SERVICE_NAME, 'success');
  await stage.clock.advance(TICK_INTERVAL_MS);
  await look(stage, 1);
  stage.forge.judge = () => 'hold';
  await stage.forge.review(pr, 'reviewer', 'approve');
  await look(stage, 4);
  return stage.forge.merges().length === 0
    ? []
    : ['the success of another account let one in that nothing proved'];
}

/** A person makes a branch with the name of the queue, on a forge that denies the patch then as if a right were missing. */
async function takeNameWhereDenied(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { deniesTakenNames: true } });
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushBranch(DEFAULT_SERVICE_NAME, await forge.tip(forge.base));
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 6);
  const report = await stage.reconcile();
  const problems = report?.errorCode === 'branch_name_taken' ? [] : [`it is told as ${report?.errorCode}`];
  await forge.deleteBranch(DEFAULT_SERVICE_NAME);
  await look(stage, 10);
  return forge.isMerged(pr) ? problems : [...problems, 'the queue does not go on'];
}

/** A branch has the full name of the base, so that git takes no push to the base: no merge comes, whichever pull request is tried. */
async function giveBaseNamesake(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushBranch('refs/heads/main', await forge.tip('main'));
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 10);
  const report = await stage.reconcile();
  const problems = report?.errorCode === 'branch_name_taken' ? [] : [`it is told as ${report?.errorCode}`];
  if ((await wordOn(stage, pr)) === 'success') problems.push('a success stands that no merge can follow');
  if ((await wordsOn(stage, pr)) !== PULL_CODES.queue_stopped.says)
    problems.push(`its author is told "${await wordsOn(stage, pr)}"`);
  await forge.deleteBranch('refs/heads/main');
  await forge.cancelSchedule(pr);
  await forge.schedule(pr, 'squash');
  await look(stage, 10);
  return forge.isMerged(pr) ? problems : [...problems, 'the queue does not go on'];
}

/** A tag has the name of the base and holds a commit that no gate run has seen: Forgejo would merge into the tag, and push that. */
async function tagAheadOfBase(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const ahead = await forge.openPullRequest({ branch: 'ahead', files: { 'ahead.txt': 'never tested\n' } });
  const pr = await givenScheduled(forge, 'a');
  let isUnread = true;
  forge.fault = ({ path }) => (isUnread && path.includes('tags/') ? { status: 500 } : null);
  await look(stage, 4);
  if (forge.isMerged(pr)) return ['it landed although it is not known whether there is such a tag'];
  await forge.pushTag('main', (await forge.pull(ahead)).headSha);
  isUnread = false;
  await look(stage, 10);
  const report = await stage.reconcile();
  const problems = report?.errorCode === 'branch_name_taken' ? [] : [`it is told as ${report?.errorCode}`];
  if (forge.isMerged(pr)) return ['it landed on what no gate run has seen'];
  await forge.pushTag('main', null);
  await look(stage, 4);
  return forge.isMerged(pr) ? problems : [...problems, 'the queue does not go on'];
}

export const FORGE_SCENES = {
  'a success comes two minutes late': successComesTwoMinutesLate,
  'a schedule within the second of a look': scheduleWithinTheSecond,
  'a landing cannot be read any more': landingGoesUnread,
  'another required check was skipped': otherCheckSkipped,
  'another account writes a word of its own under the check of the queue': unknownWordByAnother,
  'a success of before stands when a head is scheduled': successOfBefore,
  'a twin appears while its head is gated': twinAppearsLate,
  'the tip of the base says that no run starts': silentBase,
  'the success of another account': forgeSuccess,
  'a branch has the name of the queue, where the forge denies the patch': takeNameWhereDenied,
  'git takes another branch for the base': giveBaseNamesake,
  'a tag of the name of the base is ahead of it': tagAheadOfBase,
} satisfies Scenes;
