import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { giveUpFirst, postsSuccess } from '../../scenario/late-call.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import {
  hasAlarm,
  isSuccess,
  look,
  type Scenes,
  type Stage,
  setStage,
  wordOn,
  wordsOn,
} from '../scene-stage.ts';
import { givenUnanswered, lookUntil } from './bad-head-scenes.ts';

/** Scenes about heads that cannot be read while a success may come late (decision 0270). */

const MINUTE_MS = 60_000;
const LATE_MS = 100_000;
/** Less than the forge may take. */
const LATEST_MS = 122_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const HANG_MS = 10_000;
/** So many that the patrol of their statuses does not find by luck what the watch has to find. */
const OTHERS = 44;

/** The success of `a` has no answer and is carried out late; the schedule of `a` is cancelled. Calls about its head fail once `fails` says so. */
async function givenLateSuccess(fails: (name: string) => boolean): Promise<{ stage: Stage; late: number }> {
  let sha = '';
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [of], answer) => {
      if (of === sha && fails(name)) throw new ForgeError('unreachable', name, 500, null, false);
      return answer();
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 3_000;
  forge.lateEffectMs = LATE_MS;
  const late = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(late);
  for (let at = 0; at < OTHERS; at += 1)
    await forge.openPullRequest({ branch: `o${at}`, files: { [`o${at}.txt`]: 'x\n' } });
  await stage.drain({ until: giveUpFirst(forge, postsSuccess(headSha)) });
  await forge.cancelSchedule(late);
  sha = headSha;
  return { stage, late };
}

/** The record is lost, and the new one cannot read that head after its first readings; words can be written. */
async function hideLateSuccessOfLost(): Promise<readonly string[]> {
  let reads = 0;
  let isNew = false;
  const { stage, late } = await givenLateSuccess((name) => {
    if (isNew && name === 'readStatuses') reads += 1;
    return name === 'readStatuses' && reads > 2;
  });
  const { forge } = stage;
  await stage.loseRecord();
  stage.restartEngine();
  isNew = true;
  const other = await givenScheduled(forge, 'b');
  const hasLanded = await lookUntil(stage, 10 * MINUTE_MS, () => forge.isMerged(other));
  if (!hasLanded) return ['others wait for a head that cannot be read'];
  const stands = (await wordOn(stage, late)) === 'success';
  return stands ? ['another landed beside a success that came late'] : [];
}

/** Once the first word has taken that success back, statuses of its head can be neither read nor written. */
async function hideLateSuccessForGood(): Promise<readonly string[]> {
  let isBad = false;
  const isOfStatuses = (name: string) => name === 'readStatuses' || name === 'postStatus';
  const { stage, late } = await givenLateSuccess((name) => isBad && isOfStatuses(name));
  await lookUntil(stage, MINUTE_MS / 2, () => false);
  isBad = true;
  await lookUntil(stage, 40 * MINUTE_MS, () => false);
  if ((await wordOn(stage, late)) !== 'success') return ['the scene did not come about'];
  return hasAlarm(stage, 'success_stands') ? [] : ['a success stands without an alarm'];
}

/** The record is lost, and the forge answers nothing for three seconds when the time of a late success ends; events set off looks. */
async function loseForgeAtEndOfWatch(): Promise<readonly string[]> {
  let isAway = false;
  const stage: Stage = await setStage({
    lastingEngine: true,
    switches: { scheduleTriggers: true },
    wrapForge: wrapForge(async (name, _, answer) => {
      if (isAway) throw new ForgeError('unreachable', name, 500, null, false);
      return answer();
    }),
  });
  const { forge, clock } = stage;
  const { first: late } = await givenUnanswered(stage, LATEST_MS);
  await forge.cancelSchedule(late);
  await stage.loseRecord();
  stage.restartEngine();
  const other = await givenScheduled(forge, 'b');
  await lookUntil(stage, MINUTE_MS, () => false);
  const since = (await stage.record()).unheard?.[0]?.since;
  if (since === undefined) return ['the scene did not come about'];
  await lookUntil(stage, since + 124_000 - clock.now(), () => false);
  isAway = true;
  for (let second = 0; second < 3; second += 1) {
    await stage.reconcile();
    await clock.advance(1_000);
  }
  isAway = false;
  await lookUntil(stage, 5 * MINUTE_MS, () => forge.isMerged(other));
  await forge.schedule(late, 'squash');
  await clock.advance(6_000);
  await lookUntil(stage, 2 * MINUTE_MS, () => forge.isMerged(late));
  return (await unprovenLandings(forge)).length === 0
    ? []
    : ['a success that came late merged what is not proven'];
}

/** Its first success had no answer; tested again it fails, and its statuses cannot be read as that success may come. Then the record is lost. */
async function hideBouncedWatched(): Promise<readonly string[]> {
  let sha = '';
  let isHidden = false;
  let fails = false;
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [of], answer) => {
      if (isHidden && name === 'readStatuses' && of === sha)
        throw new ForgeError('unreachable', name, 500, null, false);
      return answer();
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 3_000;
  forge.lateEffectMs = DAY_MS;
  forge.judge = (files) => (fails && files.has('src/a.txt') ? 'failure' : 'success');
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(forge, 'a');
  sha = (await forge.pull(pr)).headSha;
  await stage.drain({ until: giveUpFirst(forge, postsSuccess(sha)) });
  fails = true;
  const end = stage.clock.now() + 30 * MINUTE_MS;
  while (!(await wordsOn(stage, pr)).startsWith('bounced') && stage.clock.now() < end) await look(stage, 1);
  if ((await stage.record()).unheard === undefined) return ['the scene did not come about'];
  isHidden = true;
  await lookUntil(stage, 4 * MINUTE_MS, () => false);
  isHidden = false;
  const runs = forge.runs().length;
  await stage.loseRecord();
  stage.restartEngine();
  await lookUntil(stage, 20 * MINUTE_MS, () => false);
  return forge.runs().length === runs ? [] : ['one that was bounced is tested again without a new schedule'];
}

/** Two have one head. The one that lands cannot be read after its success, and the forge merges the other by it. */
async function hideLandingOfTwin(): Promise<readonly string[]> {
  let hidden: number | null = null;
  const stage: Stage = await setStage({
    lastingEngine: true,
    onEntry: (entry) => {
      if (isSuccess(entry)) hidden ??= first;
    },
    wrapForge: wrapForge(async (name, [pr], answer) => {
      if (name === 'readPullRequest' && pr === hidden)
        throw new ForgeError('unreachable', name, 500, null, false);
      return answer();
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 3_000;
  const first = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(first);
  const twin = await forge.openPullRequest({ branch: 'twin', head: headSha });
  await forge.schedule(twin, 'squash');
  forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await lookUntil(stage, 10 * MINUTE_MS, () => false);
  if (!forge.isMerged(twin)) return ['the scene did not come about'];
  const hasLanded = (await stage.events()).some(({ event, pr }) => event === 'pr_landed' && pr === twin);
  const problems = hasLanded ? [] : ['a proven landing of a twin is not told as landed'];
  return hasAlarm(stage, 'unverified_landing') ? [...problems, 'a proven landing is alarmed'] : problems;
}

/** Three are closed, and each question about one of them takes ten seconds and fails. */
async function hangOnDeparted(): Promise<readonly string[]> {
  const departed = new Set<unknown>();
  let hangs = false;
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [pr], answer) => {
      if (!hangs || name !== 'readPullRequest' || !departed.has(pr)) return answer();
      await stage.clock.advance(HANG_MS);
      throw new ForgeError('unreachable', name, null, null, false);
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  for (const branch of ['x', 'y', 'z']) departed.add(await givenScheduled(forge, branch));
  await look(stage, 1);
  for (const pr of departed) await forge.close(Number(pr));
  hangs = true;
  const other = await givenScheduled(forge, 'b');
  const hasLanded = await lookUntil(stage, 15 * MINUTE_MS, () => forge.isMerged(other));
  if (!hasLanded) return ['another waits for closed ones that cannot be read'];
  hangs = false;
  await lookUntil(stage, 10 * MINUTE_MS, () => false);
  const left = (await stage.events()).filter(({ event, pr }) => event === 'pr_skipped' && departed.has(pr));
  return left.length === departed.size ? [] : [`${left.length} of ${departed.size} closed ones have left`];
}

/** The forge refuses one kind of call about one head, as a guard before it may, and nothing else. */
async function refuseOneHead(call: string, label: string): Promise<readonly string[]> {
  let head = '';
  const stage = await setStage({
    wrapForge: wrapForge(async (name, args, answer) => {
      if (name === call && args.includes(head)) throw new ForgeError('denied', label, 403);
      return answer();
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  head = (await forge.pull(await givenScheduled(forge, 'a'))).headSha;
  const others = [await givenScheduled(forge, 'b'), await givenScheduled(forge, 'c')];
  const haveLanded = await lookUntil(stage, 60 * MINUTE_MS, () => others.every((pr) => forge.isMerged(pr)));
  return haveLanded ? [] : ['others wait for a head that the forge refuses'];
}

export const UNREAD_HEAD_SCENES = {
  'the record is lost, and a head whose success comes late cannot be read any more': hideLateSuccessOfLost,
  'a head whose success comes late can be neither read nor written': hideLateSuccessForGood,
  'each question about some closed ones hangs': hangOnDeparted,
  'the forge merges the twin of one that cannot be read any more': hideLandingOfTwin,
  'the forge is away for moments as the time of a late success ends': loseForgeAtEndOfWatch,
  'one that was bounced cannot be read when an earlier success of it may come': hideBouncedWatched,
  'the forge refuses the trees of one head': () => refuseOneHead('readTree', 'GET git/trees/{sha}'),
  'the forge refuses statuses on one head': () => refuseOneHead('postStatus', 'POST statuses/{sha}'),
} satisfies Scenes;
