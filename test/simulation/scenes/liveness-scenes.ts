import { WAKE_DELAY_MS_MIN } from '#core/domain/limits.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME, stagingBranch } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { headOf, wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import {
  hasAlarm,
  isSuccess,
  judgeWords,
  look,
  type Scenes,
  type Stage,
  setStage,
  wordOn,
  wordsOn,
} from '../scene-stage.ts';

/** Scenes in which something about one pull request can never be done: the others go on, and it is told. */

const MINUTE_MS = 60_000;
/** Looks of half a minute. */
const HALF_AN_HOUR = 60;
const LOOKS_OF_HALF_AN_HOUR = (30 * MINUTE_MS) / WAKE_DELAY_MS_MIN;
const DID_NOT_COME = ['the scene did not come about'];

const isTold = async (stage: Stage, pr: number, reason: string): Promise<boolean> =>
  (await stage.events()).some((event) => event.pr === pr && event.reason === reason);

/** An administrator deletes one that waits for an approval. */
async function deleteOne(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  await stage.forge.deletePullRequest(pr);
  await look(stage, 20);
  return (await isTold(stage, pr, 'deleted')) ? [] : ['one that was deleted stays in the queue'];
}

/** For one look the forge knows nothing of one that is there. */
async function loseSightOfOne(): Promise<readonly string[]> {
  let isOut = false;
  let gone = 0;
  const hooked = wrapForge(async (name, _args, answer) => {
    const real = await answer();
    if (!isOut) return real;
    if (name === 'listOpenPullRequests')
      return (real as readonly { readonly number: number }[]).filter(({ number }) => number !== gone);
    return real;
  });
  const stage = await setStage({ wrapForge: hooked });
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredApprovals: 1 });
  gone = await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  isOut = true;
  stage.forge.fault = ({ path }) => (path.endsWith(`/pulls/${gone}`) ? { status: 404 } : null);
  await look(stage, 2);
  isOut = false;
  stage.forge.fault = () => null;
  await look(stage, 4);
  return (await isTold(stage, gone, 'deleted')) ? ['one unlucky answer took one out of the queue'] : [];
}

/** One that waits for an approval is deleted, and the forge fails on each question about it. */
async function failOnDeleted(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  await stage.forge.deletePullRequest(pr);
  stage.forge.fault = ({ path }) => (path.endsWith(`/pulls/${pr}`) ? { status: 500 } : null);
  await look(stage, HALF_AN_HOUR + 10);
  return (await isTold(stage, pr, 'left_the_queue')) ? [] : ['each look fails on one that is in no list'];
}

/** The list does not have one that is there, and the reading of it has these HTTP statuses, one for each look. */
async function missFromList(statuses: readonly number[], word: string): Promise<readonly string[]> {
  let left: number | null = null;
  let status = 500;
  const hooked = wrapForge(async (name, args, answer) => {
    if (left !== null && name === 'readPullRequest' && args[0] === left)
      throw new ForgeError(status === 404 ? 'missing' : 'unreachable', 'GET pulls/{n}', status);
    const real = await answer();
    if (name !== 'listOpenPullRequests') return real;
    return (real as readonly { readonly number: number }[]).filter(({ number }) => number !== left);
  });
  const stage = await setStage({ wrapForge: hooked });
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  left = pr;
  for (status of statuses) await look(stage, 1);
  left = null;
  await look(stage, 4);
  return (await isTold(stage, pr, word)) ? ['one unlucky answer took one out of the queue'] : [];
}

const failOnceOnLeft = () => missFromList([500], 'left_the_queue');
const TEN_MINUTES = HALF_AN_HOUR / 3;
const findNoneAfterFailures = () => missFromList([...Array(TEN_MINUTES).fill(500), 404], 'deleted');

/** Six whose staging always fails, and a good one behind them; then good ones without an end. */
async function failSix(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 4 } });
  await givenProject(stage.forge);
  const bad: number[] = [];
  for (let count = 0; count < 6; count += 1) bad.push(await givenScheduled(stage.forge, `bad${count}`));
  const good = await givenScheduled(stage.forge, 'good');
  stage.forge.fault = ({ path, about }) =>
    path.endsWith('diffpatch') && about?.includes('src/bad') ? { status: 500 } : null;
  await look(stage, HALF_AN_HOUR);
  const problems = stage.forge.isMerged(good) ? [] : ['a good one waits for all whose staging fails'];
  for (let count = 0; count < 12; count += 1) {
    await givenScheduled(stage.forge, `more${count}`);
    await look(stage, 6);
  }
  for (const pr of bad)
    if (!(await isTold(stage, pr, 'staging_failed'))) problems.push('one whose staging fails is never told');
  return problems;
}

/** Staging fails for one again and again, for hours: its words stand over each new try. Then the forge is well again. */
async function failOneForHours(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'bad');
  forge.fault = ({ path, about }) =>
    path.endsWith('diffpatch') && about?.includes('src/bad') ? { status: 502 } : null;
  await look(stage, HALF_AN_HOUR);
  const { says } = PULL_CODES.staging_failed;
  if ((await wordsOn(stage, pr)) !== says) return DID_NOT_COME;
  const { headSha } = await forge.pull(pr);
  const before = forge.statusHistory(headSha).length;
  await look(stage, 4 * HALF_AN_HOUR);
  const problems =
    forge.statusHistory(headSha).length > before ? ['each new try says that it goes on by itself'] : [];
  forge.fault = () => null;
  await look(stage, 5 * HALF_AN_HOUR);
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land once the forge was well again'];
}

/** Its success cannot be taken back. Its schedule is cancelled in the end. */
async function stickSuccess(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  const other = await givenScheduled(stage.forge, 'b');
  stage.forge.mergeBehaviour = (each) => ({ kind: each === pr ? 'lost' : 'now' });
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  const head = await headOf(stage, pr);
  stage.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`/statuses/${head}`) ? { status: 500 } : null;
  await look(stage, HALF_AN_HOUR);
  if ((await wordOn(stage, pr)) !== 'success') return DID_NOT_COME;
  const problems: string[] = [];
  if (!hasAlarm(stage, 'success_stands')) problems.push('a success stands, and no person is told');
  if (stage.forge.isMerged(other)) problems.push('another one lands while a success may open a merge');
  await stage.forge.cancelSchedule(pr);
  await look(stage, HALF_AN_HOUR);
  if (!stage.forge.isMerged(other)) problems.push('another one waits for a success that opens nothing');
  await stage.forge.schedule(pr, 'squash');
  const third = await givenScheduled(stage.forge, 'c');
  await look(stage, 10);
  if (stage.forge.isMerged(third)) problems.push('one lands beside a success that may open a merge again');
  return problems;
}

/** On one head no status can be written, and its last success is carried out all the same, this much later. */
function answerLate(lateMs: number): () => Promise<readonly string[]> {
  return async () => {
    let standsSince = 0;
    const stage = await setStage({
      onEntry: (entry) => {
        if (isSuccess(entry) && entry.kind === 'status' && entry.sha === head) standsSince = entry.at;
      },
    });
    let head = '';
    await givenProject(stage.forge);
    stage.forge.gateDurationMs = 2_000;
    const pr = await givenScheduled(stage.forge, 'a');
    const other = await givenScheduled(stage.forge, 'b');
    head = await headOf(stage, pr);
    stage.forge.mergeBehaviour = (each) => ({ kind: each === pr && lateMs > 2 * MINUTE_MS ? 'lost' : 'now' });
    const isPost = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method === 'POST' && path.endsWith(`/statuses/${head}`);
    stage.forge.fault = (call) => (isPost(call) ? { status: 500 } : null);
    stage.forge.lateEffectMs = lateMs;
    let posts = 0;
    stage.forge.isLate = (call) => {
      if (isPost(call)) posts += 1;
      return isPost(call) && posts === 10;
    };
    // As often as the service looks after a failure.
    for (let count = 0; count < LOOKS_OF_HALF_AN_HOUR; count += 1) {
      await stage.reconcile();
      await stage.clock.advance(WAKE_DELAY_MS_MIN);
    }
    if (standsSince === 0) return DID_NOT_COME;
    if (lateMs > 2 * MINUTE_MS)
      return hasAlarm(stage, 'success_stands') ? [] : ['a success came late, and no person is told'];
    const [first] = stage.forge.merges();
    const isFirst = first?.pr === pr && stage.forge.isMerged(other);
    return isFirst && !hasAlarm(stage, 'unverified_landing') ? [] : ['a late success merged on another base'];
  };
}

/** Its merge was lost, and then the forge does not tell what it depends on. */
async function keepSilent(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  let isLost = true;
  stage.forge.mergeBehaviour = () => ({ kind: isLost ? 'lost' : 'now' });
  stage.forge.fault = ({ path }) => (path.endsWith(`/issues/${pr}/dependencies`) ? { status: 500 } : null);
  await look(stage, 30);
  isLost = false;
  await look(stage, 2 * HALF_AN_HOUR);
  const problems = stage.forge.isMerged(pr) ? [] : ['one waits for an answer that never comes'];
  return (await isTold(stage, pr, 'unclear')) ? problems : [...problems, 'one waits untold for an answer'];
}

/** The forge never says what one pull request depends on: the page and its head both tell of that. */
async function sayTheSameOnThePage(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const silent = await givenScheduled(forge, 'a');
  await forge.addDependency(silent, await forge.openPullRequest({ branch: 'x', files: { x: 'x' } }));
  forge.fault = ({ path }) => (path.endsWith(`/issues/${silent}/dependencies`) ? { status: 500 } : null);
  await look(stage, 2 * HALF_AN_HOUR);
  if (!(await isTold(stage, silent, 'unclear'))) return DID_NOT_COME;
  return judgeWords(stage);
}

/** The forge died over the push of a staging branch, which no read of it shows since then. */
async function dieOverPush(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  await forge.leaveHalfMade(stagingBranch(DEFAULT_SERVICE_NAME, 'main'), await forge.tip('main'));
  await look(stage, 6);
  const hasFailed = (await stage.record()).entries.some(({ stagingTries }) => stagingTries !== undefined);
  const isLanded = prs.every((pr) => forge.isMerged(pr));
  return isLanded && !hasFailed ? [] : ['a branch that the forge half made is held against pull requests'];
}

/** The forge lets the account remove no branch, as behind a proxy that refuses DELETE: that holds no landing up. */
async function keepBranches(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 5_000;
  forge.fault = ({ method }) => (method === 'DELETE' ? { status: 403 } : null);
  const good = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  await givenScheduled(forge, 'c', 'BAD\n');
  await stage.drain({ maxMs: 2 * MINUTE_MS, until: () => forge.merges().length === good.length });
  const isLanded = good.every((pr) => forge.isMerged(pr));
  forge.fault = () => null;
  await look(stage, 12);
  const left = (await forge.branches()).filter((name) => name.startsWith(DEFAULT_SERVICE_NAME));
  return [
    ...(isLanded ? [] : ['branches that cannot be removed hold up what has passed']),
    ...left.map((name) => `${name} is left`),
  ];
}

export const LIVENESS_SCENES = {
  'one is deleted': deleteOne,
  'one is deleted, and each question about it fails': failOnDeleted,
  'one that left the list cannot be read once': failOnceOnLeft,
  'one that could not be read for long is not found once': findNoneAfterFailures,
  'one is lost sight of': loseSightOfOne,
  'staging fails for six': failSix,
  'staging fails for one for hours': failOneForHours,
  'the forge dies over the push of a staging branch': dieOverPush,
  'the forge lets no branch be removed': keepBranches,
  'a success cannot be taken back': stickSuccess,
  'no status can be written, and a success comes late': answerLate(110_000),
  'no status can be written, and a success comes very late': answerLate(8 * 60_000),
  'the forge does not answer about one': keepSilent,
  'the forge does not answer, and the page tells of it': sayTheSameOnThePage,
} satisfies Scenes;
