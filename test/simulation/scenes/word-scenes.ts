import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { describeStaleSuccess } from '../../../engine-container/src/queue/words/phrases.ts';
import { giveUpFirst } from '../../scenario/late-call.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import {
  judgeWords,
  look,
  openLostMerge,
  type Scenes,
  type Stage,
  setStage,
  wordsOn,
} from '../scene-stage.ts';

/** Scenes about words that stand on a head: those of another pull request with it, and those that come late. */

const MINUTE_MS = 60_000;
const BOUNCED = /^(bounced|failed)/;
const REFUSED = /^refused: /;

export async function passTicks(stage: Stage, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5 * MINUTE_MS) {
    await stage.clock.advance(5 * MINUTE_MS);
    await stage.drain({ maxMs: MINUTE_MS });
  }
}

/** The words that it waits again are written late, over those of its second bounce. */
async function wordsComeOverBounce(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.lateEffectMs = 5 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a', 'BAD\n');
  await stage.drain();
  const { headSha } = await forge.pull(pr);
  await forge.cancelSchedule(pr);
  await forge.schedule(pr, 'squash');
  const wasGivenUp = giveUpFirst(forge, (call) => call.path.endsWith(`/statuses/${headSha}`));
  await stage.drain();
  if (!wasGivenUp()) return ['the scene did not come about'];
  await passTicks(stage, 30 * MINUTE_MS);
  const words = await wordsOn(stage, pr);
  return BOUNCED.test(words) ? [] : [`one that was bounced is told "${words}"`];
}

/** Another account writes success over the words of a bounce while its pull request is a draft, which then ends. */
async function successOverBouncedDraft(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a', 'BAD\n');
  await stage.drain();
  await forge.setTitle(pr, 'WIP: a');
  await passTicks(stage, 5 * MINUTE_MS);
  await forge.postStatusAs('mallory', (await forge.pull(pr)).headSha, DEFAULT_SERVICE_NAME, 'success');
  await passTicks(stage, 10 * MINUTE_MS);
  await forge.setTitle(pr, 'a');
  await passTicks(stage, 20 * MINUTE_MS);
  const words = await wordsOn(stage, pr);
  return BOUNCED.test(words) ? [] : [`one that was bounced is told "${words}"`];
}

/** The word that a success does not hold is written late, over the refusal of two pull requests with one head. */
async function staleWordComesOverTwins(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(first);
  const twin = await forge.openPullRequest({ branch: 'twin', head: headSha });
  await forge.schedule(twin, 'squash');
  const needed = await forge.openPullRequest({ branch: 'needed', files: { 'src/needed.txt': 'n\n' } });
  for (const pr of [first, twin]) await forge.addDependency(pr, needed);
  await stage.drain();
  const before = await wordsOn(stage, first);
  if (!REFUSED.test(before)) return ['the scene did not come about'];
  await forge.postStatusAs('mq-bot', headSha, DEFAULT_SERVICE_NAME, 'error', describeStaleSuccess());
  await passTicks(stage, 20 * MINUTE_MS);
  const words = await wordsOn(stage, first);
  return words === before ? [] : [`two that are refused are told "${words}"`];
}

/** The push of another pull request to the head of one that was bounced: its words do not stay over those of the bounce. */
async function anotherMovesToBounced(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const bounced = await givenScheduled(forge, 'a', 'BAD\n');
  await stage.drain();
  forge.judge = () => 'hold';
  const files = { 'src/f.txt': 'f\n' };
  const other = await forge.openPullRequest({ branch: 'f', files, fork: true });
  await forge.review(other, 'reviewer', 'approve');
  await forge.schedule(other, 'squash');
  await stage.drain({ maxMs: MINUTE_MS });
  await forge.forcePushPullRequest(other, (await forge.pull(bounced)).headSha);
  await passTicks(stage, 20 * MINUTE_MS);
  const words = await wordsOn(stage, bounced);
  return BOUNCED.test(words) ? [] : [`one that was bounced is told "${words}"`];
}

/** One slot and a long gate run: one pull request is staged, the next one waits, and takes its place when that has landed. */
async function tellWhereEachStands(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 1 } });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 30 * MINUTE_MS;
  // The forge keeps its schedule, and it has no place in the line.
  await givenScheduled(forge, 'bounced', 'BAD\n');
  await stage.drain();
  const runs = forge.runs().length;
  const first = await givenScheduled(forge, 'a');
  await stage.drain({ until: () => forge.runs().length > runs });
  const second = await givenScheduled(forge, 'b');
  await passTicks(stage, 10 * MINUTE_MS);
  const told = [await wordsOn(stage, first), await wordsOn(stage, second)];
  await stage.drain({ until: () => forge.runs().length > runs + 1 });
  await passTicks(stage, 10 * MINUTE_MS);
  told.push(await wordsOn(stage, second));
  const wanted = [/^staged:/, /^queued:.* place 2 /, /^staged:/];
  return wanted.flatMap((pattern, at) =>
    pattern.test(told[at] ?? '') ? [] : [`word ${at} is "${told[at]}"`],
  );
}

/** The record is lost while words stand on a head that are still true. */
async function loseRecordUnderTrueWords(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 30 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: () => forge.runs().length > 0 });
  await stage.reconcile();
  await stage.loseRecord();
  await passTicks(stage, 10 * MINUTE_MS);
  const words = forge.statusHistory((await forge.pull(pr)).headSha).map(({ description }) => description);
  if (words.length === 0) return ['the scene did not come about'];
  return words.flatMap((each, at) =>
    at > 0 && each === words[at - 1] ? [`"${each}" is written again`] : [],
  );
}

/** A merge in place of the proven one stops the queue: who waits in it is told so, and that it goes on once a person has looked. */
async function tellWhoWaitsInStopped(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  let drop = 2;
  forge.mergeBehaviour = () => (drop-- > 0 ? { kind: 'lost' } : { kind: 'now' });
  const first = await givenScheduled(forge, 'a');
  const pr = await givenScheduled(forge, 'b');
  await stage.drain({ until: async () => (await wordsOn(stage, first)).startsWith('proven:') });
  await forge.pushToBase({ 'pushed.txt': 'pushed\n' });
  await passTicks(stage, 10 * MINUTE_MS);
  const told = [await wordsOn(stage, pr)];
  await stage.settings({ enabledAt: stage.clock.now() });
  forge.gateDurationMs = 30 * MINUTE_MS;
  await passTicks(stage, 10 * MINUTE_MS);
  told.push(await wordsOn(stage, pr));
  const wanted = [/^queued: the queue has stopped/, /^staged:/];
  return wanted.flatMap((pattern, at) =>
    pattern.test(told[at] ?? '') ? [] : [`word ${at} is "${told[at]}"`],
  );
}

/** Two pull requests with one head wait in a queue that goes off. */
async function switchOffUnderTwins(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 60 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a');
  const twin = await forge.openPullRequest({ branch: 'twin', head: (await forge.pull(pr)).headSha });
  await forge.schedule(twin, 'squash');
  await passTicks(stage, 10 * MINUTE_MS);
  await stage.settings({ queueEnabled: false });
  await passTicks(stage, 30 * MINUTE_MS);
  const told = forge.statusHistory((await forge.pull(pr)).headSha).map(({ description }) => description);
  const off = told.filter((words) => words?.startsWith('not queued:') === true).length;
  return off === 1 ? [] : [`two in a queue that is off are told so ${off} times`];
}

/** A record is lost, and one that was staged is kept out by a check that is asked for from now on. */
async function keptOutAfterLoss(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 60 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a');
  await passTicks(stage, 5 * MINUTE_MS);
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, 'lint'] });
  await stage.loseRecord();
  await passTicks(stage, 30 * MINUTE_MS);
  const words = await wordsOn(stage, pr);
  return /^waiting: another required check/.test(words) ? [] : [`one that is kept out is told "${words}"`];
}

/** The record of a queue is lost in which two wait with the head of a third, which is not scheduled and listed first. */
async function loseRecordBesideUnscheduled(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 60 * MINUTE_MS;
  const first = await forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'a\n' } });
  const head = (await forge.pull(first)).headSha;
  const pr = await forge.openPullRequest({ branch: 'b', head });
  await forge.schedule(pr, 'squash');
  await passTicks(stage, 10 * MINUTE_MS);
  await stage.loseRecord();
  await passTicks(stage, 20 * MINUTE_MS);
  const told = forge.statusHistory(head).map(({ description }) => description);
  return told.some((words) => words?.startsWith('not queued:')) ? [`it is told ${told.join(' | ')}`] : [];
}

/** The base moves again and again under one that changes nothing: its words stand, and it lands once it changes something. */
async function moveBaseUnderRefusal(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const files = { 'src/same.txt': 'same\n' };
  const same = await givenScheduled(forge, 'same', 'same\n', { path: 'src/same.txt' });
  await forge.pushToBase(files);
  await look(stage, 4);
  const { says } = PULL_CODES.no_changes;
  if ((await wordsOn(stage, same)) !== says) return ['the scene did not come about'];
  const { headSha } = await forge.pull(same);
  const before = forge.statusHistory(headSha).length;
  const others: number[] = [];
  for (const name of ['a', 'b', 'c']) {
    others.push(await givenScheduled(forge, name));
    await look(stage, 6);
  }
  const problems = others.every((pr) => forge.isMerged(pr)) ? [] : ['the others did not land'];
  const later = forge.statusHistory(headSha).slice(before);
  if (later.some(({ description }) => description !== says))
    problems.push('a refusal that still holds is taken back for a moment each time the base moves');
  await forge.pushToBase({ 'src/same.txt': null, 'src/z.txt': 'z\n' });
  forge.gateDurationMs = 5 * MINUTE_MS;
  await look(stage, 4);
  if ((await wordsOn(stage, same)) !== PULL_CODES.staged.says)
    problems.push('one that is staged is told of the refusal of before');
  await stage.drain({ maxMs: 20 * MINUTE_MS });
  return forge.isMerged(same) ? problems : [...problems, 'it did not land once it changed something'];
}

/** What conflicts with the base is tried on a batch once the base has moved, and conflicts there as well. */
async function tryRefusedOnBatch(): Promise<readonly string[]> {
  const labels = { highLabels: ['high'], priorityPeople: ['oncall'] };
  const stage = await setStage({ repo: { ...labels, bisectFanout: 16 } });
  const { forge } = stage;
  const path = 'src/same.txt';
  await givenProject(forge, { [path]: 'old\n' });
  await givenScheduled(forge, 'before');
  await look(stage, 12);
  const refused = await givenScheduled(forge, 'refused', 'mine\n', { path });
  await forge.pushToBase({ [path]: 'new\n' });
  await look(stage, 4);
  const { headSha } = await forge.pull(refused);
  const before = forge.statusHistory(headSha);
  if (!REFUSED.test(await wordsOn(stage, refused))) return ['the scene did not come about'];
  forge.gateDurationMs = 20 * MINUTE_MS;
  await forge.setLabel(await givenScheduled(forge, 'ahead'), 'high', true, 'oncall');
  await forge.pushToBase({ 'src/other.txt': 'other\n' });
  await look(stage, 20);
  const { deferred } = await stage.record();
  if (!deferred.some(({ reason }) => reason === 'conflict_ahead')) return ['it was not tried on the batch'];
  const later = forge.statusHistory(headSha).slice(before.length);
  return later.map(({ description }) => `a refusal that still holds is told over with "${description}"`);
}

/** A review that was missing is given while another check has not passed; then that check passes. */
async function approveBeforeCheck(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiredApprovals: 1, requiredContexts: [DEFAULT_SERVICE_NAME, 'lint'] });
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 2);
  if ((await wordsOn(stage, pr)) !== PULL_CODES.approvals_missing.says)
    return ['the scene did not come about'];
  await forge.review(pr, 'reviewer', 'approve');
  await look(stage, 2);
  const words = await wordsOn(stage, pr);
  await forge.postStatusAs('ci', (await forge.pull(pr)).headSha, 'lint', 'success');
  await passTicks(stage, 15 * MINUTE_MS);
  return [
    ...(words === PULL_CODES.not_admitted.says
      ? []
      : [`one that waits for another check is told "${words}"`]),
    ...(forge.isMerged(pr) ? [] : ['it did not land']),
  ];
}

/** Another required check never reports: the author is told, though not of a check that takes minutes. */
async function checkNeverReports(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, 'lint'] });
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 4);
  const { headSha } = await forge.pull(pr);
  const early = await forge.status(headSha, DEFAULT_SERVICE_NAME);
  await passTicks(stage, 15 * MINUTE_MS);
  const late = await forge.status(headSha, DEFAULT_SERVICE_NAME);
  return [
    ...(early === null ? [] : [`a check that runs as usual costs a status: "${early.description}"`]),
    ...(late?.description === PULL_CODES.not_admitted.says ? await judgeWords(stage) : ['nothing is said']),
  ];
}

/** The rule asks for a review in the midst of a landing that the forge does not carry out: the success is taken back. */
async function askForReviewInLanding(): Promise<readonly string[]> {
  const opened = await openLostMerge();
  if (opened === null) return ['the scene did not come about'];
  const { stage, pr } = opened;
  const { headSha } = await stage.forge.pull(pr);
  const before = stage.forge.statusHistory(headSha).length;
  await stage.forge.setProtection({ requiredApprovals: 1 });
  await look(stage, 4);
  const says = PULL_CODES.approvals_missing.says;
  const words = stage.forge.statusHistory(headSha).slice(before);
  return [
    ...((await wordsOn(stage, pr)) === says ? [] : ['the scene did not come about: it was not refused']),
    ...words
      .filter(({ description, state }) => state !== 'success' && description !== says)
      .map(({ description }) => `one that is refused is told "${description}"`),
  ];
}

export const WORD_SCENES = {
  'one is staged and the next one waits': tellWhereEachStands,
  'the base moves under one that changes nothing': moveBaseUnderRefusal,
  'a review comes before another check has passed': approveBeforeCheck,
  'another required check never reports': checkNeverReports,
  'a review is asked for in the midst of a landing': askForReviewInLanding,
  'what is refused is tried on a batch in flight': tryRefusedOnBatch,
  'the record is lost under words that are true': loseRecordUnderTrueWords,
  'words come late over a bounce': wordsComeOverBounce,
  'a success over the bounce of a draft': successOverBouncedDraft,
  'words of a success come late over the refusal of twins': staleWordComesOverTwins,
  'another one moves to the head of a bounce': anotherMovesToBounced,
  'a queue has stopped': tellWhoWaitsInStopped,
  'a queue goes off in which two have one head': switchOffUnderTwins,
  'another check keeps one out that a lost record had staged': keptOutAfterLoss,
  'a record is lost beside one with the same head that is not scheduled': loseRecordBesideUnscheduled,
} satisfies Scenes;
