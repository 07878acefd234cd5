import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { GITEA_126_SWITCHES } from '../../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { isSuccess, look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';
import { givenOthers, judgeBlocked, MINUTE_MS } from './blocked-scenes.ts';

/** Scenes in which the forge does not show the bot what keeps a pull request from its merge. */

/** Who schedules may write by a team whose members the bot may not see, and its first merge is lost: that proves nothing against them. */
async function hiddenRight(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setAccess('dev', 'read');
  await forge.lendByTeam({ name: 'devs', members: ['dev'], code: 'write', hidden: true });
  const pr = await givenScheduled(forge, 'a');
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  await look(stage, 14);
  const problems: string[] = [];
  if (forge.runs().length === 0) problems.push('one whose right is hidden is taken for one from outside');
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 40);
  if (!forge.isMerged(pr)) problems.push('a right that the bot may not read was held against a schedule');
  return problems;
}

/** A bot that is no administrator reads the summary of the rule alone: something of the rest, or the loss of a right, keeps the forge from merging. */
export function hiddenRule(
  block: (stage: Stage, pr: number) => Promise<void>,
): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage({ switches: { botIsAdmin: false } });
    const { forge, clock } = stage;
    await givenProject(forge);
    const pr = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': '1\n' }, author: 'ann' });
    await forge.schedule(pr, 'squash');
    await block(stage, pr);
    await stage.drain({ maxMs: 60 * MINUTE_MS });
    const successes = forge.journal().filter(isSuccess).length;
    await look(stage, 10);
    if (forge.isMerged(pr)) return ['the scene did not come about'];
    const problems = await judgeBlocked(stage, pr, [], clock.now());
    const told = (await stage.events()).some((each) => each.pr === pr && each.reason === 'rule_hidden');
    if (!told) problems.push('its author is not told what may be why');
    if (forge.journal().filter(isSuccess).length > successes)
      problems.push('it was tried again although what may be why still holds');
    return problems;
  };
}

const hiddenRejection = hiddenRule(async ({ forge }, pr) => {
  await forge.setProtection({ blockOnRejectedReviews: true });
  await forge.review(pr, 'lead', 'reject');
});

const hiddenOutdated = hiddenRule(async ({ forge }) => {
  await forge.setProtection({ blockOnOutdatedBranch: true });
  await forge.pushToBase({ 'z.txt': 'z\n' });
});

const hiddenLeft = hiddenRule(async (stage) => {
  await stage.drain({ until: async () => stage.forge.runs().length > 0 });
  await stage.forge.setAccess('dev', 'read');
});

/** Such a rule may be why, but the forge is only slow: its merge comes after four minutes. */
async function slowUnderHiddenRule(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { botIsAdmin: false } });
  const { forge } = stage;
  await givenProject(forge);
  await givenScheduled(forge, 'a');
  await forge.pushToBase({ 'z.txt': 'z\n' });
  forge.mergeBehaviour = () => ({ kind: 'slow', ms: 4 * MINUTE_MS });
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  const refused = (await stage.events()).some(({ reason }) => reason === 'rule_hidden');
  return refused ? ['a merge that is only slow was taken for one that is blocked'] : [];
}

/** Such a rule may be why, but the forge has dropped the schedule before a merge that failed. */
async function droppedUnderHiddenRule(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { botIsAdmin: false, rowDeletedBeforeMerge: true } });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await forge.pushToBase({ 'z.txt': 'z\n' });
  forge.mergeFails = () => true;
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  const reasons = (await stage.events()).filter((each) => each.pr === pr).map(({ reason }) => reason);
  return reasons.includes('schedule_lost')
    ? []
    : ['its author is not told that the forge dropped the schedule'];
}

/**
 * It depends on something in a repository that the bot may not see, and that is open: told, not bounced, with one landing spent. It
 * lands at its next schedule once that is closed.
 */
async function hiddenDependency(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await forge.setHiddenDependency(pr, 'open');
  const others = await givenOthers(stage);
  await look(stage, 60);
  const problems = await judgeBlocked(stage, pr, others, stage.clock.now());
  const words = await wordsOn(stage, pr);
  if (words !== PULL_CODES.dependency_hidden.says) problems.push(`a hidden dependency: "${words}"`);
  const rows = (await stage.rows()).length;
  await look(stage, 30);
  if ((await stage.rows()).length > rows) problems.push('it was tried again although nothing has changed');
  await forge.setHiddenDependency(pr, 'closed');
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  await forge.schedule(pr, 'squash');
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land once what it depends on was closed'];
}

/** What it depends on is hidden and closed: nothing is against it, however slow the forge is, and after it was shown it lands by itself. */
async function hiddenClosedDependency(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const slow = await givenScheduled(forge, 'a');
  const lost = await givenScheduled(forge, 'b');
  for (const pr of [slow, lost]) await forge.setHiddenDependency(pr, 'closed');
  forge.mergeBehaviour = (pr) => (pr === lost ? { kind: 'lost' } : { kind: 'slow', ms: 4 * MINUTE_MS });
  await look(stage, 60);
  const problems = (await stage.events()).some(
    ({ pr, reason }) => pr === slow && reason === 'dependency_hidden',
  )
    ? ['a merge that is only slow was taken for one that is blocked']
    : [];
  if (!forge.isMerged(slow)) problems.push('what depends on something closed did not land');
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await forge.setHiddenDependency(lost, null);
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(lost) ? problems : [...problems, 'it did not go on once nothing was hidden any more'];
}

const AUDIT = 'acme/policies: Audit / audit (push)';

/**
 * The owner asks for a check that the rule does not name, and it fails on one: told, not bounced, with one landing spent. It goes on
 * by itself once that check has passed; one on which it passes lands beside it.
 */
async function hiddenCheck(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { ...GITEA_126_SWITCHES, hiddenChecks: ['acme/policies: *'] } });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  const others = await givenOthers(stage);
  for (const each of [pr, ...others]) {
    const { headSha } = await forge.pull(each);
    await forge.postStatusAs('ann', headSha, AUDIT, each === pr ? 'failure' : 'success');
  }
  await look(stage, 60);
  const problems = await judgeBlocked(stage, pr, others, stage.clock.now());
  const words = await wordsOn(stage, pr);
  if (words !== PULL_CODES.check_hidden.says) problems.push(`a hidden check: "${words}"`);
  const rows = (await stage.rows()).length;
  await look(stage, 30);
  if ((await stage.rows()).length > rows) problems.push('it was tried again although nothing has changed');
  await forge.postStatusAs('ann', (await forge.pull(pr)).headSha, AUDIT, 'success');
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(pr) ? problems : [...problems, 'it did not go on once the check had passed'];
}

/** The same check fails on four: the first is waited for to the end, the others a minute each, and a good one lands soon. */
async function hiddenCheckOfMany(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { ...GITEA_126_SWITCHES, hiddenChecks: ['acme/policies: *'] } });
  const { forge, clock } = stage;
  await givenProject(forge);
  const prs: number[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'good']) {
    prs.push(await givenScheduled(forge, name));
    const { headSha } = await forge.pull(prs.at(-1) ?? 0);
    await forge.postStatusAs('ann', headSha, AUDIT, name === 'good' ? 'success' : 'failure');
  }
  const begun = clock.now();
  await look(stage, 60);
  const landed = forge.merges().find(({ pr }) => pr === prs.at(-1));
  if (landed === undefined) return ['a good one did not land behind those with a hidden check'];
  return landed.at - begun < 25 * MINUTE_MS
    ? []
    : ['each one with the same hidden check was waited for to the end'];
}

export const HIDDEN_SCENES = {
  'the owner asks for a check that fails on four': hiddenCheckOfMany,
  'the owner asks for a check that the rule does not name': hiddenCheck,
  'a rejection blocks by a rule that the bot may not read': hiddenRejection,
  'a rule that the bot may not read blocks an outdated head': hiddenOutdated,
  'who scheduled leaves where the bot is no administrator': hiddenLeft,
  'a schedule is dropped where the bot may not read the rule': droppedUnderHiddenRule,
  'a merge is slow where the bot may not read the rule': slowUnderHiddenRule,
  'a right to write is hidden in a team': hiddenRight,
  'a dependency is open where the bot may not see it': hiddenDependency,
  'a dependency is closed where the bot may not see it': hiddenClosedDependency,
} satisfies Scenes;
