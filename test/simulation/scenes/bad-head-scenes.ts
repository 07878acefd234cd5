import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { giveUpFirst, postsSuccess } from '../../scenario/late-call.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { Crash } from '../../support/machine.ts';
import { hasAlarm, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

/** Scenes about decision 0270: calls about one head fail, or hang, while the forge is otherwise well. */

const MINUTE_MS = 60_000;
/** A success without an answer is carried out so late: less than the forge may take. */
const LATE_MS = 117_000;
const HANG_MS = 10_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Looks when the queue wants to, and each five minutes at least, until it is so or the time is over.
 * @param codes - Gets the error code of each look.
 */
export async function lookUntil(
  stage: Stage,
  maxMs: number,
  isSo: () => boolean,
  codes: (string | null)[] = [],
): Promise<boolean> {
  const end = stage.clock.now() + maxMs;
  while (!isSo() && stage.clock.now() < end) {
    const report = await stage.reconcile();
    codes.push(report?.errorCode ?? null);
    const now = stage.clock.now();
    const next = Math.min(report?.wakeAt ?? end, now + 5 * MINUTE_MS, end);
    await stage.clock.advance(Math.max(1_000, next - now));
  }
  return isSo();
}

/** Good each alone, and not together. */
const CLASH = (files: ReadonlyMap<string, string>) =>
  files.has('src/a.txt') && files.has('src/b.txt') ? ('failure' as const) : ('success' as const);

/** The success of `a` has no answer and is carried out late; it leaves the queue meanwhile, and `b` comes. */
export async function givenUnanswered(stage: Stage, lateMs = LATE_MS) {
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = CLASH;
  forge.gateDurationMs = 3_000;
  forge.lateEffectMs = lateMs;
  const first = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(first);
  await stage.drain({ until: giveUpFirst(forge, postsSuccess(headSha)) });
  return { first, headSha };
}

/** `b` lands, and then `a` is scheduled once more: what comes of its success is proven or not. */
export async function landOtherAndComeBack(stage: Stage, first: number): Promise<readonly string[]> {
  const { forge } = stage;
  await forge.cancelSchedule(first);
  const second = await givenScheduled(forge, 'b');
  await lookUntil(stage, 5 * MINUTE_MS, () => forge.isMerged(second));
  await forge.schedule(first, 'squash');
  await lookUntil(stage, 5 * MINUTE_MS, () => forge.isMerged(first));
  return (await unprovenLandings(forge)).length === 0
    ? []
    : ['a success that came late merged what is not proven'];
}

/** It cannot be read for a minute, so that its landing is watched blindly. */
async function hideUnanswered(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  const { first } = await givenUnanswered(stage);
  const until = clock.now() + MINUTE_MS;
  forge.fault = ({ path }) =>
    path.endsWith(`/pulls/${first}`) && clock.now() < until ? { status: 500 } : null;
  return landOtherAndComeBack(stage, first);
}

/** It cannot be read any more, and its success never comes. */
async function hideUnansweredForGood(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  const { first } = await givenUnanswered(stage, DAY_MS);
  forge.fault = ({ path }) => (path.endsWith(`/pulls/${first}`) ? { status: 500 } : null);
  const second = await givenScheduled(forge, 'b');
  const isSo = await lookUntil(stage, 15 * MINUTE_MS, () => forge.isMerged(second));
  return isSo ? [] : ['others wait for one that cannot be read'];
}

/** The engine stands still between the intent and the success, and its success has no answer, or the engine dies by it. */
async function standStill(end: 'no_answer' | 'dies'): Promise<readonly string[]> {
  let isFirst = true;
  const stage: Stage = await setStage({
    wrapForge: wrapForge(async (name, args, answer) => {
      const isSuccess = name === 'postStatus' && (args[1] as { state: string }).state === 'success';
      if (!isSuccess || !isFirst) return answer();
      isFirst = false;
      await stage.clock.advance(20_000);
      if (end === 'no_answer') return answer();
      await answer().catch(() => {});
      throw new Crash();
    }),
  });
  const { first } = await givenUnanswered(stage);
  return landOtherAndComeBack(stage, first);
}

const standStillWithoutAnswer = () => standStill('no_answer');
const standStillAndDie = () => standStill('dies');

/** The forge answers each word on a head as if the commit were gone, and the success stands there. */
async function missHeadOfSuccess(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = CLASH;
  forge.gateDurationMs = 3_000;
  forge.mergeBehaviour = (pr) => ({ kind: pr === first ? 'lost' : 'now' });
  const first = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(first);
  await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
  forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`/statuses/${headSha}`) ? { status: 404 } : null;
  const second = await givenScheduled(forge, 'b');
  const hasLanded = await lookUntil(stage, 25 * MINUTE_MS, () => forge.isMerged(second));
  return [
    ...(hasLanded ? ['another landed beside a success that stands'] : []),
    ...(hasAlarm(stage, 'success_stands') ? [] : ['a success stands without an alarm']),
  ];
}

/** A lost record told of some heads; each call about their statuses takes ten seconds and fails. */
async function hangOnToldHeads(): Promise<readonly string[]> {
  const bad = new Set<unknown>();
  let how: 'well' | 'refuse' | 'hang' = 'well';
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [sha], answer) => {
      const isWrite = name === 'postStatus';
      if (!bad.has(sha) || !(isWrite || name === 'readStatuses')) return answer();
      if (how === 'refuse' && isWrite) throw new ForgeError('unreachable', name, 500, null, true);
      if (how !== 'hang') return answer();
      await stage.clock.advance(HANG_MS);
      throw new ForgeError('unreachable', name, null, null, true);
    }),
  });
  const { forge, clock } = stage;
  await givenProject(forge);
  for (const branch of ['x', 'y', 'z']) {
    const pr = await forge.openPullRequest({ branch, files: { [`${branch}.txt`]: 'x\n' } });
    bad.add((await forge.pull(pr)).headSha);
  }
  await stage.reconcile();
  for (const sha of bad) await forge.postStatusAs('mq-bot', String(sha), DEFAULT_SERVICE_NAME, 'success');
  await stage.loseRecord();
  stage.restartEngine();
  how = 'refuse';
  await stage.reconcile();
  await clock.advance(MINUTE_MS);
  await stage.loseRecord();
  stage.restartEngine();
  how = 'hang';
  const pr = await givenScheduled(forge, 'b');
  const isSo = await lookUntil(stage, 15 * MINUTE_MS, () => forge.isMerged(pr));
  return isSo ? [] : ['others wait for heads whose calls hang'];
}

/** The forge cannot read one gate run, and all others. */
async function hideGateRun(): Promise<readonly string[]> {
  let hidden: unknown;
  const stage = await setStage({
    lastingEngine: true,
    repo: { gateTimeoutMinutes: 5 },
    wrapForge: wrapForge(async (name, [sha], answer) => {
      if (name !== 'readGate') return answer();
      hidden ??= sha;
      if (sha === hidden) throw new ForgeError('unreachable', name, 500, null, false);
      return answer();
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  const isSo = await lookUntil(stage, 30 * MINUTE_MS, () => forge.isMerged(pr));
  return isSo ? [] : ['a gate run that cannot be read is waited for without an end'];
}

/** The statuses of one head cannot be read from the first look of a new record on. */
async function hideStatuses(): Promise<readonly string[]> {
  const stage = await setStage({ lastingEngine: true });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  forge.fault = ({ method, path }) =>
    method === 'GET' && path.includes(`${headSha}/status`) ? { status: 500 } : null;
  await lookUntil(stage, 30 * MINUTE_MS, () => forge.isMerged(pr));
  const told = (await stage.events()).filter((event) => event.pr === pr && event.reason === 'unclear');
  return told.length === 1 ? [] : [`its author is told ${told.length} times`];
}

/** A head wears a success of the queue that no record knows of, and the forge refuses each word on it. */
async function givenRefusedWord(stage: Stage): Promise<string> {
  const { forge } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'x', files: { 'x.txt': 'x\n' } });
  await stage.reconcile();
  const { headSha } = await forge.pull(pr);
  await forge.postStatusAs('mq-bot', headSha, DEFAULT_SERVICE_NAME, 'success');
  await stage.loseRecord();
  stage.restartEngine();
  return headSha;
}

/** So many that the patrol of their statuses does not find by luck what the watch has to find. */
const OTHERS = 44;

/** A lost record told of two heads: one cannot be read after its first reading, the success of the other comes late. */
async function hideOneWatched(): Promise<readonly string[]> {
  let hidden = '';
  let late = '';
  const reads = new Map<unknown, number>();
  let how: 'well' | 'refuse' | 'hide' = 'well';
  const stage: Stage = await setStage({
    lastingEngine: true,
    switches: { scheduleTriggers: true },
    wrapForge: wrapForge(async (name, [sha], answer) => {
      if (sha === hidden && how === 'refuse' && name === 'postStatus')
        throw new ForgeError('unreachable', name, 500, null, true);
      if (how !== 'hide' || name !== 'readStatuses' || (sha !== hidden && sha !== late)) return answer();
      const count = (reads.get(sha) ?? 0) + 1;
      reads.set(sha, count);
      const isRead = sha === hidden ? count <= 2 : count > 2;
      if (!isRead) throw new ForgeError('unreachable', name, 500, null, false);
      return answer();
    }),
  });
  const { forge, clock } = stage;
  hidden = await givenRefusedWord(stage);
  for (let at = 0; at < OTHERS; at += 1)
    await forge.openPullRequest({ branch: `o${at}`, files: { [`o${at}.txt`]: 'x\n' } });
  how = 'refuse';
  await lookUntil(stage, 2 * MINUTE_MS, () => false);
  forge.judge = CLASH;
  forge.gateDurationMs = 3_000;
  forge.lateEffectMs = 100_000;
  const first = await givenScheduled(forge, 'a');
  late = (await forge.pull(first)).headSha;
  await stage.drain({ until: giveUpFirst(forge, postsSuccess(late)) });
  await forge.cancelSchedule(first);
  await forge.postStatusAs('mq-bot', hidden, DEFAULT_SERVICE_NAME, 'pending');
  await stage.loseRecord();
  stage.restartEngine();
  how = 'hide';
  const second = await givenScheduled(forge, 'b');
  await lookUntil(stage, 10 * MINUTE_MS, () => forge.isMerged(second));
  await forge.schedule(first, 'squash');
  await clock.advance(6_000);
  await lookUntil(stage, 2 * MINUTE_MS, () => forge.isMerged(first));
  return (await unprovenLandings(forge)).length === 0 ? [] : ['a watched success merged what is not proven'];
}

/** The forge says that a head is gone, and hangs on the question whether a success stands there. */
async function hangOnMissingHead(): Promise<readonly string[]> {
  let bad = '';
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [sha], answer) => {
      if (sha !== bad) return answer();
      if (name === 'postStatus') throw new ForgeError('missing', name, 404, null, false);
      if (name !== 'readStatuses') return answer();
      await stage.clock.advance(HANG_MS);
      throw new ForgeError('unreachable', name, null, null, false);
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 3_000;
  forge.mergeBehaviour = (pr) => ({ kind: pr === first ? 'lost' : 'now' });
  const first = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
  bad = (await forge.pull(first)).headSha;
  await forge.cancelSchedule(first);
  const second = await givenScheduled(forge, 'b');
  await lookUntil(stage, 40 * MINUTE_MS, () => forge.isMerged(second));
  return hasAlarm(stage, 'success_stands') ? [] : ['a success stands without an alarm'];
}

/** The word that takes a success back was refused for minutes; it is not any more, and all staging is. */
async function refuseStagingBesideWord(): Promise<readonly string[]> {
  let bad = '';
  let how: 'words' | 'staging' = 'words';
  const stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [sha], answer) => {
      if (how === 'words' && sha === bad && name === 'postStatus')
        throw new ForgeError('unreachable', name, 500, null, true);
      if (how === 'staging' && (name === 'applyPatch' || name === 'createBranch'))
        throw new ForgeError('denied', name, 403, null, false);
      return answer();
    }),
  });
  const { forge } = stage;
  bad = await givenRefusedWord(stage);
  await lookUntil(stage, 5 * MINUTE_MS, () => false);
  how = 'staging';
  await givenScheduled(forge, 'b');
  await lookUntil(stage, 15 * MINUTE_MS, () => false);
  const stands = (await forge.status(bad, DEFAULT_SERVICE_NAME))?.state === 'success';
  return stands ? ['a success stands as long as nothing can be staged'] : [];
}

/** The statuses of one that was bounced cannot be read by a new record for a while. */
async function hideBounced(): Promise<readonly string[]> {
  const stage = await setStage({ lastingEngine: true });
  const { forge, clock } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 3_000;
  forge.judge = (files) => (files.has('src/a.txt') ? 'failure' : 'success');
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  await lookUntil(stage, 10 * MINUTE_MS, () => false);
  const runs = forge.runs().length;
  await stage.loseRecord();
  stage.restartEngine();
  const until = clock.now() + 25 * MINUTE_MS;
  forge.fault = ({ method, path }) =>
    method === 'GET' && path.includes(`${headSha}/status`) && clock.now() < until ? { status: 500 } : null;
  await lookUntil(stage, 60 * MINUTE_MS, () => false);
  return forge.runs().length === runs ? [] : ['one that was bounced is tested again without a new schedule'];
}

export const BAD_HEAD_SCENES = {
  'one whose success has no answer leaves, and cannot be read for a minute': hideUnanswered,
  'one whose success has no answer cannot be read any more': hideUnansweredForGood,
  'the engine stands still before a success that has no answer': standStillWithoutAnswer,
  'the engine stands still before a success, and dies by it': standStillAndDie,
  'the forge says that a head is gone on which a success stands': missHeadOfSuccess,
  'each call about some heads of a lost record hangs': hangOnToldHeads,
  'one of two watched heads cannot be read': hideOneWatched,
  'the forge says that a head is gone, and hangs on what stands there': hangOnMissingHead,
  'nothing can be staged while a success is to be taken back': refuseStagingBesideWord,
  'the statuses of a bounced head cannot be read by a new record': hideBounced,
  'one gate run cannot be read': hideGateRun,
  'the statuses of one head cannot be read by a new record': hideStatuses,
} satisfies Scenes;
