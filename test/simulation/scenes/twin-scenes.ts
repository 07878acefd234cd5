import type { CommitStatus } from '#core/domain/forge/forge.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import {
  hasAlarm,
  judgeWords,
  look,
  type Scenes,
  type Stage,
  setStage,
  wordOn,
  wordsOn,
} from '../scene-stage.ts';

/** Scenes in which two pull requests have one head: a status belongs to the commit, so both read it. */

const MINUTE_MS = 60_000;
/** The forge has merged by then. */
const MERGE_MS = 1_000;
const HOUR_MS = 60 * MINUTE_MS;
const REFUSED = /^refused: /;
const NOTHING_LEFT = /^refused: changes nothing/;

const hasEvent = async (stage: Stage, pr: number, event: string): Promise<boolean> =>
  (await stage.events()).some((each) => each.pr === pr && each.event === event);

async function scheduleTwin(stage: Stage, first: number): Promise<number> {
  const { headSha } = await stage.forge.pull(first);
  const twin = await stage.forge.openPullRequest({ branch: 'twin', head: headSha });
  await stage.forge.schedule(twin, 'squash');
  return twin;
}

/** One success opens both, and the forge merges the one that the landing was not meant for. */
async function twinIsMerged(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a');
  const twin = await scheduleTwin(stage, first);
  stage.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await stage.drain();
  if (!stage.forge.isMerged(twin) || stage.forge.isMerged(first)) return ['the scene did not come about'];
  const problems = hasAlarm(stage, 'unverified_landing') ? ['a proven landing of a twin is alarmed'] : [];
  if (!(await hasEvent(stage, twin, 'pr_landed'))) problems.push('a twin that landed is not told as landed');
  return problems;
}

/** … or merges both, the second without a change. */
async function bothTwinsAreMerged(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a');
  const twin = await scheduleTwin(stage, first);
  await stage.drain();
  await stage.clock.advance(10 * MINUTE_MS);
  await stage.drain();
  if (!stage.forge.isMerged(first) || !stage.forge.isMerged(twin)) return ['the scene did not come about'];
  return hasAlarm(stage, 'unverified_landing') ? ['the second merge of a proven head is alarmed'] : [];
}

/**
 * … between two readings of one look, which so finds only the second one merged, that came just before the success: the one that the
 * landing was meant for is in line once more. A third one conflicts with it, so that the list is read meanwhile.
 */
async function twinsAreMergedInLook(): Promise<readonly string[]> {
  let twin = 0;
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [subject, post], answer) => {
      const isOpened = name === 'postStatus' && (post as CommitStatus).state === 'success';
      if (isOpened && twin === 0) twin = await scheduleTwin(stage, first);
      if (twin !== 0 && name === 'readPullRequest' && subject === twin) await stage.clock.advance(MERGE_MS);
      return answer();
    }),
  });
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a', 'a\n', { path: 'shared.txt' });
  await givenScheduled(stage.forge, 'b', 'b\n', { path: 'shared.txt' });
  await look(stage, 10);
  if (!stage.forge.isMerged(first) || !stage.forge.isMerged(twin)) return ['the scene did not come about'];
  const words = await wordsOn(stage, twin);
  return words === PULL_CODES.landed.says ? [] : [`both are merged, and their head says "${words}"`];
}

/**
 * … then the base is pushed back below both, and restored while the success of a third one with that head stands: the
 * merge of the second is not the landing of the third.
 */
async function twinMergedAlongComesBack(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const before = await forge.tip('main');
  const first = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(first);
  const second = await scheduleTwin(stage, first);
  await look(stage, 40);
  const after = await forge.tip('main');
  if (!forge.isMerged(first) || !forge.isMerged(second)) return ['the scene did not come about'];
  await forge.pushBranch('main', before);
  await look(stage, 10);
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const third = await forge.openPullRequest({ branch: 'third', head: headSha });
  await forge.schedule(third, 'squash');
  await stage.drain({ until: async () => (await wordOn(stage, third)) === 'success' });
  await forge.pushBranch('main', after);
  await look(stage, 10);
  const landed = (await stage.events()).filter(({ event }) => event === 'pr_landed').map(({ pr }) => pr);
  return String(landed) === String([first]) ? [] : [`${landed} are told as landed, and ${first} did`];
}

/** One was bounced, and lands under the number of its twin. */
async function twinOfBouncedLands(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a', 'NEEDS:src/b.txt\n');
  stage.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await stage.drain();
  await givenScheduled(stage.forge, 'b');
  await stage.drain();
  const twin = await scheduleTwin(stage, first);
  await stage.drain({ maxMs: HOUR_MS });
  if (!stage.forge.isMerged(twin) || !(await hasEvent(stage, first, 'pr_bounced')))
    return ['the scene did not come about'];
  const words = await wordsOn(stage, first);
  return NOTHING_LEFT.test(words) ? [] : [`one whose twin has landed is told "${words}"`];
}

/** Nothing is left of one, and for a while its head is also that of a pull request to another guarded branch. */
async function twinElsewhereForAWhile(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const tip = await forge.tip(forge.base);
  await forge.pushToBase({ 'src/a.txt': 'a\n' });
  await forge.pushBranch('release', tip);
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, 'release');
  const files = { 'src/a.txt': 'a\n', 'src/b.txt': null };
  const pr = await forge.openPullRequest({ branch: 'a', files });
  await forge.schedule(pr, 'squash');
  await stage.drain();
  const { headSha } = await forge.pull(pr);
  const twin = await forge.openPullRequest({ branch: 'twin', head: headSha, base: 'release' });
  await stage.clock.advance(10 * MINUTE_MS);
  await stage.drain();
  if (!/^refused: this commit also heads/.test(await wordsOn(stage, pr)))
    return ['the scene did not come about'];
  await forge.close(twin);
  await stage.clock.advance(10 * MINUTE_MS);
  await stage.drain();
  const words = await wordsOn(stage, pr);
  return NOTHING_LEFT.test(words) ? [] : [`a refusal that has ended still says "${words}"`];
}

/** The landing of one ends without a merge, and its twin, or itself, was refused meanwhile. */
function landingEndsOverRefusal(isOfTwin: boolean): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage();
    const { forge } = stage;
    await givenProject(forge);
    forge.mergeBehaviour = () => ({ kind: 'lost' });
    const first = await givenScheduled(forge, 'a');
    await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
    if (isOfTwin) {
      const twin = await scheduleTwin(stage, first);
      const files = { 'src/x.txt': 'x\n' };
      await forge.addDependency(twin, await forge.openPullRequest({ branch: 'x', files }));
      await stage.reconcile();
      await forge.cancelSchedule(first);
    } else await forge.setProtection({ requiredApprovals: 1 });
    await stage.drain({ maxMs: HOUR_MS });
    const { headSha } = await forge.pull(first);
    const history = forge.statusHistory(headSha);
    const takenBackAt = history.findLastIndex(({ state }) => state === 'success') + 1;
    const later = history.slice(takenBackAt + 1).map(({ description }) => description);
    if (later.length === 0) return ['the scene did not come about'];
    // Words that a later look puts right were wrong until then.
    return later.flatMap((words) => (REFUSED.test(words) ? [] : [`one that is refused is told "${words}"`]));
  };
}

/** One that was sent here from another branch waits for its author, and the twin beside it is pushed to. */
async function twinIsPushedBesideUnbound(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  await forge.pushBranch('docs', await forge.tip('main'));
  await forge.setProtection({ requiredContexts: ['docs/check'] }, 'docs');
  forge.judge = () => 'hold';
  const first = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(first);
  const sent = await forge.openPullRequest({ branch: 'twin', head: headSha, base: 'docs' });
  await clock.advance(MINUTE_MS);
  await forge.schedule(sent, 'squash');
  await look(stage, 2);
  await forge.retarget(sent, 'main');
  await look(stage, 4);
  await forge.pushToPullRequest(first, { 'src/b.txt': 'b\n' });
  await look(stage, 6);
  const words = await wordsOn(stage, sent);
  return words === PULL_CODES.other_target.says ? [] : [`its author is told "${words}"`];
}

/** One is judged, and the twin beside it is pushed to. */
async function twinIsPushedBesideStaged(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  const first = await givenScheduled(stage.forge, 'a');
  await look(stage, 2);
  const before = await wordsOn(stage, first);
  const twin = await scheduleTwin(stage, first);
  await look(stage, 2);
  await stage.forge.pushToPullRequest(twin, { 'src/b.txt': 'b\n' });
  await look(stage, 4);
  const words = await wordsOn(stage, first);
  return words === before ? [] : [`its author is told "${words}"`];
}

/** One of two with a head is refused; the forge is slow to merge the other one. */
async function landBesideRefusedTwin(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { scheduleOwn: false } });
  const { forge } = stage;
  await givenProject(forge);
  const first = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a\n' }, author: 'dev' });
  const { headSha } = await forge.pull(first);
  const twin = await forge.openPullRequest({ branch: 'twin', head: headSha, author: 'ann' });
  await forge.scheduleAs('ann', twin);
  await stage.drain({ maxMs: 2 * MINUTE_MS });
  if (!REFUSED.test(await wordsOn(stage, twin))) return ['the scene did not come about: none was refused'];
  await stage.clock.advance(MINUTE_MS);
  await forge.scheduleAs('lead', first);
  // A look at everything comes before one at what is in flight sees the merge.
  forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'slow', ms: 34_000 } : { kind: 'lost' });
  await stage.drain({ maxMs: HOUR_MS });
  if (!forge.isMerged(first)) return ['the scene did not come about: it did not land'];
  const words = forge.statusHistory(headSha).map(({ description }) => description);
  return [
    ...(words.some((each) => each.startsWith('landed:')) ? [] : ['one that landed is not told so']),
    ...(words.includes(PULL_CODES.not_admitted.says) ? ['a head that landed is said to wait'] : []),
  ];
}

/** One leaves that was refused, as another with its head is sent here from another branch: the words are of the one that stays. */
async function refusedTwinLeaves(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushBranch('release', await forge.tip('main'));
  const first = await givenScheduled(forge, 'a');
  await stage.drain();
  const second = await scheduleTwin(stage, first);
  await look(stage, 6);
  if (!NOTHING_LEFT.test(await wordsOn(stage, second))) return ['the scene did not come about'];
  const { headSha } = await forge.pull(first);
  const third = await forge.openPullRequest({ branch: 'third', head: headSha, base: 'release' });
  await forge.schedule(third, 'squash');
  await look(stage, 2);
  await forge.cancelSchedule(second);
  await forge.retarget(third, 'main');
  await look(stage, 6);
  return judgeWords(stage);
}

/** One leaves that was refused, and another one with its head was bounced before: the head tells that bounce again. */
async function refusedTwinLeavesBounced(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'bad', 'BAD\n');
  await stage.drain();
  const { headSha } = await forge.pull(first);
  await forge.pushBranch('release', await forge.tip('main'));
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, 'release');
  await forge.openPullRequest({ branch: 'twin', head: headSha, base: 'release' });
  const third = await forge.openPullRequest({ branch: 'third', head: headSha });
  await forge.schedule(third, 'squash');
  await look(stage, 3);
  if ((await wordsOn(stage, first)) !== PULL_CODES.twin_elsewhere.says)
    return ['the scene did not come about'];
  await forge.cancelSchedule(third);
  await look(stage, 3);
  const words = await wordsOn(stage, first);
  return /^bounced:/.test(words) ? judgeWords(stage) : [`the head of one that was bounced says "${words}"`];
}

/** One leaves that was refused, and another one with its head waits for its author: the head tells that one what to do. */
async function refusedTwinLeavesUnbound(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushBranch('release', await forge.tip('main'));
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, 'release');
  const refused = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(refused);
  await forge.openPullRequest({ branch: 'stays', head: headSha, base: 'release' });
  const sent = await forge.openPullRequest({ branch: 'sent', head: headSha, base: 'release' });
  await stage.clock.advance(MINUTE_MS);
  await forge.schedule(sent, 'squash');
  await look(stage, 4);
  await forge.retarget(sent, 'main');
  await look(stage, 10);
  if (!/^refused: this commit also heads/.test(await wordsOn(stage, sent)))
    return ['the scene did not come about'];
  await forge.cancelSchedule(refused);
  await look(stage, 6);
  const words = await wordsOn(stage, sent);
  return words === PULL_CODES.other_target.says ? judgeWords(stage) : [`its author is told "${words}"`];
}

/** One has landed, and was taken back from the base an hour later, so that its head may come again. */
async function openLanded(): Promise<{ readonly stage: Stage; readonly landed: number } | null> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const landed = await givenScheduled(forge, 'a');
  await stage.drain();
  if (!forge.isMerged(landed)) return null;
  await stage.clock.advance(HOUR_MS);
  await forge.pushToBase({ 'src/a.txt': null });
  return { stage, landed };
}

/** One has the head of another that has landed, and another check keeps it out of line. */
async function landedHeadIsKeptOut(): Promise<readonly string[]> {
  const opened = await openLanded();
  if (opened === null) return ['the scene did not come about'];
  const { stage, landed } = opened;
  await stage.forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, 'lint'] });
  const again = await scheduleTwin(stage, landed);
  await look(stage, 6);
  const words = await wordsOn(stage, again);
  return words === PULL_CODES.not_admitted.says ? judgeWords(stage) : [`its author is told "${words}"`];
}

/** One has the head of another that has landed, and waits for a batch: its head tells of it, not of the one that has landed. */
async function landedHeadWaits(): Promise<readonly string[]> {
  const opened = await openLanded();
  if (opened === null) return ['the scene did not come about'];
  const { stage, landed } = opened;
  stage.forge.judge = () => 'hold';
  for (const name of ['b', 'c']) {
    await givenScheduled(stage.forge, name);
    await look(stage, 2);
  }
  const again = await scheduleTwin(stage, landed);
  await look(stage, 6);
  const words = await wordsOn(stage, again);
  return words === PULL_CODES.landed.says ? [`one that waits is told "${words}"`] : judgeWords(stage);
}

export const TWIN_SCENES = {
  'one of two with a head lands beside one that is refused': landBesideRefusedTwin,
  'a twin is merged by the success of a landing': twinIsMerged,
  'both twins are merged by the success of a landing': bothTwinsAreMerged,
  'both twins are merged between two readings of one look': twinsAreMergedInLook,
  'the twin of one that was bounced lands': twinOfBouncedLands,
  'a twin is open to another branch for a while': twinElsewhereForAWhile,
  'the twin of one that was sent here is pushed to': twinIsPushedBesideUnbound,
  'the twin of one that is judged is pushed to': twinIsPushedBesideStaged,
  'a landing ends over its own refusal': landingEndsOverRefusal(false),
  'a landing ends over the refusal of a twin': landingEndsOverRefusal(true),
  'a twin that was refused leaves as another one is sent here': refusedTwinLeaves,
  'a twin that was refused leaves, and one waits for its author': refusedTwinLeavesUnbound,
  'one with a head that has landed waits for its batch': landedHeadWaits,
  'one with a head that has landed waits for another check': landedHeadIsKeptOut,
  'a third one with a head that has merged twice waits for its merge': twinMergedAlongComesBack,
  'one that was refused leaves, and another one with its head was bounced': refusedTwinLeavesBounced,
} satisfies Scenes;
