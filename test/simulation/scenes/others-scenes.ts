import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { told, wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { isSuccess, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

/** Scenes about decision 0134: a success is taken back first, and one head holds up nothing. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POST_MS = 400;
const READ_MS = 1_500;
const CROWD = 200;
/** Of the push that makes it untrue: less than the time of one reconcile. */
const TAKEN_BACK_WITHIN_MS = 15_000;
/** The forge dates statuses by whole seconds. */
const SECOND_MS = 1_000;

/** Drains until it is so, or until the time is over. */
async function isSoWithin(stage: Stage, maxMs: number, isSo: () => boolean): Promise<boolean> {
  const end = stage.clock.now() + maxMs;
  await stage.drain({ maxMs: maxMs + HOUR_MS, until: () => isSo() || stage.clock.now() >= end });
  return isSo();
}

const haveLanded = (stage: Stage, prs: readonly number[]) => (): boolean =>
  prs.every((pr) => stage.forge.isMerged(pr));

/** Two that are good, behind one that is to be in the way. */
async function givenThree(stage: Stage) {
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a');
  const others = [await givenScheduled(stage.forge, 'b'), await givenScheduled(stage.forge, 'c')];
  const { headSha } = await stage.forge.pull(first);
  return { first, others, headSha };
}

/** The base moves under a landing, while hundreds are to be told of a refusal. */
async function moveBaseUnderCrowd(): Promise<readonly string[]> {
  let movedAt = 0;
  let takenBackAt = 0;
  const stage = await setStage({
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (name === 'postStatus') await stage.clock.advance(POST_MS);
      return answer();
    }),
    onEntry: (entry) => {
      const isIt = entry.kind === 'status' && entry.sha === headSha && entry.context === DEFAULT_SERVICE_NAME;
      if (isIt && movedAt > 0 && !isSuccess(entry) && takenBackAt === 0) takenBackAt = entry.at;
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await forge.setAccess('eve', 'read');
  for (let at = 0; at < CROWD; at += 1) {
    const files = { [`e${at}`]: 'e' };
    await forge.schedule(await forge.openPullRequest({ branch: `e${at}`, files, author: 'eve' }));
  }
  await forge.pushToBase({ 'pushed.txt': 'x\n' });
  movedAt = stage.clock.now();
  await isSoWithin(stage, 10 * MINUTE_MS, () => takenBackAt > 0);
  return takenBackAt > 0 && takenBackAt - movedAt < 30_000 ? [] : ['a success stands while others are told'];
}

/** The base moves under a landing, while a staging goes on over many reconciles. */
async function moveBaseUnderStaging(): Promise<readonly string[]> {
  const stage = await setStage({
    lastingEngine: true,
    repo: { bisectFanout: 4 },
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (name === 'readBlob') await stage.clock.advance(READ_MS);
      return answer();
    }),
  });
  const { forge } = stage;
  const middle = 'line\n'.repeat(30);
  const all = (first: string, last: string) =>
    Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`src/f${at}.txt`, `${first}${at}\n${middle}${last}\n`]),
    );
  await givenProject(forge, all('old', 'end'));
  const big = await forge.openPullRequest({ branch: 'big', files: all('old', 'tail') });
  await forge.pushToBase({ ...all('new', 'end'), 'src/base.txt': 'needed\n' });
  const pr = await givenScheduled(forge, 'a', 'NEEDS:src/base.txt\n');
  let kind: 'lost' | 'now' = 'lost';
  forge.mergeBehaviour = () => ({ kind });
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await forge.schedule(big, 'squash');
  await stage.reconcile();
  await forge.pushToBase({ 'src/base.txt': null });
  const pushedAt = stage.clock.now();
  const { headSha } = await forge.pull(pr);
  await stage.drain({ maxMs: 5 * MINUTE_MS });
  const takenBack = forge
    .statusHistory(headSha)
    .find(({ createdAt, state }) => createdAt >= pushedAt - SECOND_MS && state !== 'success');
  const lateMs = (takenBack?.createdAt ?? Number.POSITIVE_INFINITY) - pushedAt;
  kind = 'now';
  await forge.review(pr, 'alice', 'approve');
  await stage.drain({ maxMs: 5 * MINUTE_MS });
  return [
    ...((await unprovenLandings(forge)).length === 0 ? [] : ['a success that was not taken back was merged']),
    ...(lateMs <= TAKEN_BACK_WITHIN_MS
      ? []
      : [`a success was taken back after ${lateMs} ms, behind a staging`]),
  ];
}

/** On no head is a status taken, for longer than a success is tried. */
async function takeNoStatus(): Promise<readonly string[]> {
  const stage = await setStage();
  const { first, others } = await givenThree(stage);
  await stage.drain({ until: () => stage.forge.runs().length > 0 });
  const takenFrom = stage.clock.now() + 4 * MINUTE_MS;
  stage.forge.fault = ({ method, path }) =>
    stage.clock.now() < takenFrom && method === 'POST' && path.includes('/statuses/')
      ? { status: 502 }
      : null;
  if (await isSoWithin(stage, 10 * MINUTE_MS, haveLanded(stage, [first, ...others]))) return [];
  return ['statuses are taken again, and six minutes later not all that are good have landed'];
}

/** No status can be written on one head, neither `success` nor what takes it back. */
async function refuseStatuses(): Promise<readonly string[]> {
  const stage = await setStage();
  const { others, headSha } = await givenThree(stage);
  stage.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`statuses/${headSha}`) ? { status: 500 } : null;
  const isSo = await isSoWithin(stage, 2 * HOUR_MS, haveLanded(stage, others));
  return isSo ? [] : ['others wait for a head that takes no status'];
}

/** The list has one head, and the reading of the pull request another one, for good. */
async function showTwoHeads(): Promise<readonly string[]> {
  let torn: number | null = null;
  const other = 'f'.repeat(40);
  const stage = await setStage({
    wrapForge: wrapForge(async (name, [pr], answer) =>
      name === 'readPullRequest' && pr === torn
        ? { ...((await answer()) as object), headSha: other }
        : answer(),
    ),
  });
  const { first, others } = await givenThree(stage);
  torn = first;
  const found = (await isSoWithin(stage, 10 * MINUTE_MS, haveLanded(stage, others)))
    ? []
    : ['others wait for one with two heads'];
  await stage.drain({ maxMs: 20 * MINUTE_MS });
  const events = await told(stage, first);
  if (events.filter((each) => each.startsWith('pr_staged')).length > 2)
    found.push('one with two heads is staged again and again');
  return found;
}

/** The forge shows the newest head everywhere, and keeps one of before, by whose statuses it merges: a push while it was closed. */
async function keepEarlierHead(): Promise<readonly string[]> {
  let torn: number | null = null;
  const said: string[] = [];
  const stage = await setStage({
    onEntry: (entry) => {
      if (entry.kind === 'status') said.push(entry.description);
    },
    wrapForge: wrapForge(async (name, [pr], answer) =>
      name === 'readKeptHead' && pr === torn ? 'f'.repeat(40) : answer(),
    ),
  });
  const { first, others } = await givenThree(stage);
  torn = first;
  stage.forge.mergeBehaviour = (pr) => (pr === torn ? { kind: 'lost' } : { kind: 'now' });
  const found = (await isSoWithin(stage, 10 * MINUTE_MS, haveLanded(stage, others)))
    ? []
    : ['others wait for one whose head the forge does not keep'];
  if (said.some((each) => each.includes('rule of the forge'))) found.push('two heads are told as a rule');
  await stage.drain({ maxMs: 20 * MINUTE_MS });
  const refusals = (await told(stage, first)).filter((each) => each === 'pr_refused:heads_differ');
  return refusals.length === 1 ? found : [...found, `two heads are told ${refusals.length} times`];
}

/** Which head it keeps of one the forge does not tell, and its merge does not come: that may be why, so that none is blamed. */
async function hideKeptHead(): Promise<readonly string[]> {
  let hidden: number | null = null;
  const stage = await setStage({
    wrapForge: wrapForge(async (name, [pr], answer) => {
      if (name === 'readKeptHead' && pr === hidden)
        throw new ForgeError('unreachable', name, 500, null, false);
      return answer();
    }),
  });
  const { first, others } = await givenThree(stage);
  hidden = first;
  stage.forge.mergeBehaviour = (pr) => (pr === hidden ? { kind: 'lost' } : { kind: 'now' });
  // One more comes during each time-out.
  for (const branch of ['d', 'e', 'f', 'g', 'h', 'i']) {
    await stage.drain({ maxMs: 10 * MINUTE_MS });
    others.push(await givenScheduled(stage.forge, branch));
  }
  const found = (await isSoWithin(stage, 30 * MINUTE_MS, haveLanded(stage, others)))
    ? []
    : ['others wait for one whose kept head is not told'];
  const counts = (await stage.record()).mergeTimeoutCounts;
  if (counts.length > 0 || (await told(stage, first)).some((each) => each.startsWith('pr_bounced')))
    found.push('a time-out counts although what may be why is not known');
  return found;
}

/** A success stands, and no status can be written on its head for longer than mere words are tried. */
async function refuseTakingBack(): Promise<readonly string[]> {
  const stage = await setStage();
  const { first, headSha } = await givenThree(stage);
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
  let isRefused = true;
  stage.forge.fault = ({ method, path }) =>
    isRefused && method === 'POST' && path.endsWith(`statuses/${headSha}`) ? { status: 500 } : null;
  await stage.forge.pushToBase({ 'pushed.txt': 'x\n' });
  await stage.drain({ maxMs: 5 * HOUR_MS });
  if ((await wordOn(stage, first)) !== 'success') return ['the scene did not come about'];
  isRefused = false;
  await stage.drain({ maxMs: HOUR_MS });
  return (await wordOn(stage, first)) === 'success' ? ['a success stands for ever'] : [];
}

/** The words of one refusal cannot be written. */
async function refuseWords(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setAccess('eve', 'read');
  const refused = await forge.openPullRequest({ branch: 'e', files: { 'e.txt': 'e\n' }, author: 'eve' });
  await forge.schedule(refused, 'squash');
  const { headSha } = await forge.pull(refused);
  let tries = 0;
  forge.fault = ({ method, path }) => {
    if (method !== 'POST' || !path.endsWith(`statuses/${headSha}`)) return null;
    tries += 1;
    return { status: 500 };
  };
  const others: number[] = [];
  for (const name of ['b', 'c', 'd', 'f', 'g', 'h']) others.push(await givenScheduled(forge, name));
  const isSo = await isSoWithin(stage, 2 * MINUTE_MS, haveLanded(stage, others));
  const problems = isSo ? [] : ['others wait for words that cannot be written'];
  if (tries > 5) problems.push(`words that cannot be written were tried ${tries} times in two minutes`);
  await stage.drain({ maxMs: 5 * HOUR_MS });
  const isWaiting = (await stage.record()).pendingStatuses.some(({ sha }) => sha === headSha);
  return isWaiting ? [...problems, 'words that cannot be written are tried for ever'] : problems;
}

/** Each run with one change is broken off, whatever it is in a batch with. */
function breakRunsOff(bisectFanout: number): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage({ repo: { bisectFanout } });
    const { others } = await givenThree(stage);
    stage.forge.judge = (files) => (files.has('src/a.txt') ? 'cancelled' : 'success');
    const isSo = await isSoWithin(stage, 3 * HOUR_MS, haveLanded(stage, others));
    return isSo ? [] : ['others wait for one whose runs are broken off'];
  };
}

/** Two pull requests have one head, and the first of them cannot land for reasons of its own. */
function holdFirstTwin(why: 'dependency' | 'unreadable'): () => Promise<readonly string[]> {
  return async () => {
    let first = 0;
    const stage = await setStage({
      wrapForge: wrapForge(async (name, args, answer) => {
        if (why === 'unreadable' && name === 'readPullRequest' && args[0] === first)
          throw new ForgeError('unreachable', 'GET pulls/{n}', 500);
        return answer();
      }),
    });
    const { forge } = stage;
    await givenProject(forge);
    first = await givenScheduled(forge, 'a');
    const twin = await forge.openPullRequest({ branch: 'twin', head: (await forge.pull(first)).headSha });
    await forge.schedule(twin, 'squash');
    if (why === 'dependency')
      await forge.addDependency(first, await forge.openPullRequest({ branch: 'x', files: { x: 'x' } }));
    const isSo = await isSoWithin(stage, 2 * HOUR_MS, haveLanded(stage, [twin]));
    return isSo ? [] : ['one waits for a twin that cannot land'];
  };
}

/** The search of a batch ends without a word on its members while later ones wait for the forge to build their batch. */
async function comeBackBeforeUnbuilt(): Promise<readonly string[]> {
  let isHeldUp = false;
  const stage = await setStage({
    repo: { bisectFanout: 4 },
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (isHeldUp && name === 'applyPatch') throw new ForgeError('unreachable', 'POST diffpatch', 503);
      return answer();
    }),
  });
  const { forge, clock } = stage;
  const path = 'src/same.txt';
  await givenProject(forge, { [path]: 'base\n' });
  forge.judge = () => 'hold';
  const first = await givenScheduled(forge, 'first', 'first\n', { path });
  const leaving = await givenScheduled(forge, 'leaving');
  await clock.advance(MINUTE_MS);
  await stage.reconcile();
  await givenScheduled(forge, 'last', 'last\n', { path });
  await clock.advance(MINUTE_MS);
  isHeldUp = true;
  await forge.finishRun(forge.runs()[0]?.id ?? '', 'failure');
  await stage.reconcile();
  await forge.cancelSchedule(leaving);
  await clock.advance(MINUTE_MS);
  isHeldUp = false;
  forge.judge = () => 'success';
  await stage.drain();
  return forge.isMerged(first) ? [] : ['a later one of the same file landed first'];
}

/** The forge never merges one, for its style perhaps: after the first time-out those of its batch land before it. */
async function neverMergeFirst(): Promise<readonly string[]> {
  const stage = await setStage();
  const { first, others } = await givenThree(stage);
  stage.forge.mergeBehaviour = (pr) => ({ kind: pr === first ? 'lost' : 'now' });
  const isQuick = await isSoWithin(stage, 15 * MINUTE_MS, haveLanded(stage, others));
  return isQuick ? [] : ['the others wait for two time-outs of one merge'];
}

/**
 * Two batches failed by accident and are proven by one built on them; then a head of that one changes, and
 * the proof goes with it. The push renews the schedule: all of them land.
 */
async function takeProofAway(): Promise<readonly string[]> {
  let pushed = false;
  const prs: number[] = [];
  const stage = await setStage({
    repo: { bisectFanout: 16 },
    onEntry: (entry, { clock, forge }) => {
      if (!isSuccess(entry) || pushed) return;
      pushed = true;
      clock.after(1_000, async () => {
        await forge.pushToPullRequest(prs.at(-1) ?? 0, { 'src/last.txt': 'changed\n' });
      });
    },
  });
  await givenProject(stage.forge);
  let runs = 0;
  stage.forge.judge = () => {
    runs += 1;
    return runs === 2 || runs === 3 ? 'failure' : 'success';
  };
  stage.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 5_000 });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    prs.push(await givenScheduled(stage.forge, name));
  await stage.drain();
  const failed = stage.log.filter(({ message }) => message === 'reconcile failed');
  if (failed.length > 0) return [`the queue stands still: ${JSON.stringify(failed[0]?.fields)}`];
  const landed = stage.forge.merges().length;
  return landed === prs.length ? [] : [`${landed} of ${prs.length} landed`];
}

export const OTHERS_SCENES = {
  'suspects come back while later ones of the same file are not built yet': comeBackBeforeUnbuilt,
  'the proof of a failed batch is taken away': takeProofAway,
  'the base moves under a success while a crowd is told': moveBaseUnderCrowd,
  'the base moves under a success while a staging goes on': moveBaseUnderStaging,
  'no status can be written on one head': refuseStatuses,
  'no status is taken for some minutes': takeNoStatus,
  'the forge shows two heads of one': showTwoHeads,
  'the forge keeps an earlier head of one': keepEarlierHead,
  'which head the forge keeps of one is not told': hideKeptHead,
  'a success cannot be taken back for hours': refuseTakingBack,
  'the words of one refusal cannot be written': refuseWords,
  'each run with one change is broken off': breakRunsOff(16),
  'each run with one change is broken off, one at a time': breakRunsOff(1),
  'a twin is held by a dependency': holdFirstTwin('dependency'),
  'a twin is set aside': holdFirstTwin('unreadable'),
  'the forge never merges the first of a batch': neverMergeFirst,
} satisfies Scenes;
