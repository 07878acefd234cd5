import { DEFAULT_SERVICE_NAME } from '#core/domain/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../scenario/hooks.ts';
import { giveUpFirst, postsSuccess } from '../scenario/late-call.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../scenario/stories.ts';
import { Crash } from '../support/machine.ts';
import { hasAlarm, type Stage, setStage, wordOn, wordsOn } from './scene-stage.ts';

/** Scenes of `scenes.ts` about decision 0270: calls about one head fail, or hang, while the forge is otherwise well. */

const MINUTE_MS = 60_000;
/** A success without an answer is carried out so late: less than the forge may take. */
const LATE_MS = 117_000;
const HANG_MS = 10_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Looks when the queue wants to, and each five minutes at least, until it is so or the time is over. */
async function lookUntil(stage: Stage, maxMs: number, isSo: () => boolean): Promise<boolean> {
  const end = stage.clock.now() + maxMs;
  while (!isSo() && stage.clock.now() < end) {
    const report = await stage.reconcile();
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
async function givenUnanswered(stage: Stage, lateMs = LATE_MS) {
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
async function landOtherAndComeBack(stage: Stage, first: number): Promise<readonly string[]> {
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
export async function hideUnanswered(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  const { first } = await givenUnanswered(stage);
  const until = clock.now() + MINUTE_MS;
  forge.fault = ({ path }) =>
    path.endsWith(`/pulls/${first}`) && clock.now() < until ? { status: 500 } : null;
  return landOtherAndComeBack(stage, first);
}

/** It cannot be read any more, and its success never comes. */
export async function hideUnansweredForGood(): Promise<readonly string[]> {
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

export const standStillWithoutAnswer = () => standStill('no_answer');
export const standStillAndDie = () => standStill('dies');

/** The forge answers each word on a head as if the commit were gone, and the success stands there. */
export async function missHeadOfSuccess(): Promise<readonly string[]> {
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
export async function hangOnToldHeads(): Promise<readonly string[]> {
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
export async function hideGateRun(): Promise<readonly string[]> {
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
export async function hideStatuses(): Promise<readonly string[]> {
  const stage = await setStage({ lastingEngine: true });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  forge.fault = ({ method, path }) =>
    method === 'GET' && path.includes(`${headSha}/status`) ? { status: 500 } : null;
  await lookUntil(stage, 30 * MINUTE_MS, () => forge.isMerged(pr));
  const words = await wordsOn(stage, pr);
  return words.startsWith('waiting: the forge has not answered') ? [] : [`its author reads: ${words}`];
}
