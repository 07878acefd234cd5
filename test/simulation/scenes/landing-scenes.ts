import type { PullRequest } from '#core/domain/forge/forge.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { describeLeftBehind } from '../../../engine-container/src/queue/words/phrases.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { GITEA_126_SWITCHES, NO_LAGS, type ReadingLags } from '../../fakes/abstract-forge/world.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { hasAlarm, isSuccess, look, type Scenes, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes about what merged: told once, and by its right name. */

/** Less than the queue waits after it has taken its success back. */
const SHORT_MERGE_MS = 10_000;
const SLOW_MERGE_MS = 100_000;
/** Longer than a gate run takes. */
const LONG_MERGE_MS = 240_000;
const HOUR_MS = 60 * 60_000;
const PUSHED_AFTER_MS = 2_000;
const FAILING_LOOKS = 60;
/** Of a merge, by a queue that awaits it. */
const SEEN_WITHIN_MS = 1_000;
const FAILING_LOOK_MS = 20_000;

/** The base is pushed back below a landing of the queue, and restored: that landing is seen to join the base once more. */
async function restoreBase(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const before = await stage.forge.tip('main');
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.drain();
  await stage.clock.advance(HOUR_MS);
  const after = await stage.forge.tip('main');
  await stage.forge.pushBranch('main', before);
  await look(stage, 6);
  await stage.forge.pushBranch('main', after);
  await look(stage, 6);
  const told = (await stage.events()).filter((event) => event.pr === pr);
  if (!told.some(({ event }) => event === 'pr_landed')) return ['the scene did not come about'];
  const problems = told
    .filter(({ reason }) => reason === 'merged_outside_the_queue')
    .map(() => 'a landing of the queue is told as a merge past it');
  const { rival } = await stage.record();
  return rival === undefined
    ? problems
    : [...problems, 'a landing of the queue is taken for that of another'];
}

/** One of the queue is merged by hand: the merge and the base that moves by it are one fact, seen in either order. */
function mergeOneOfTheQueue(lags: Partial<ReadingLags>): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage();
    await givenProject(stage.forge);
    stage.forge.judge = () => 'hold';
    const pr = await givenScheduled(stage.forge, 'a');
    await look(stage, 2);
    stage.forge.lags = { ...NO_LAGS, ...lags };
    await stage.forge.mergeByHand(pr);
    await look(stage, 20);
    const { length } = stage.log.filter(({ fields }) => fields.alarm === 'unverified_landing');
    return length === 1 ? [] : [`a merge past the queue raised ${length} alarms`];
  };
}

/** Another account opens a merge; then the base is put back, and another pull request has the same head. */
async function foreignSuccessOutlives(): Promise<readonly string[]> {
  // Scheduling merges what is green already.
  const stage = await setStage({ switches: GITEA_126_SWITCHES });
  const { forge, clock } = stage;
  await givenProject(forge);
  await givenScheduled(forge, 'own');
  await stage.drain();
  const before = await forge.tip('main');
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  await forge.postStatusAs('ann', headSha, DEFAULT_SERVICE_NAME, 'success');
  await clock.advance(HOUR_MS);
  if (!forge.isMerged(pr)) return ['the scene did not come about'];
  await look(stage, 6);
  await forge.pushBranch('main', before);
  forge.judge = () => 'failure';
  await forge.pushBranch('again', headSha);
  const again = await forge.openPullRequest({ branch: 'again', head: headSha, title: 'again' });
  await forge.schedule(again, 'squash');
  await clock.advance(HOUR_MS);
  return forge.isMerged(again) ? ['the success of another account opened a second merge'] : [];
}

/** The forge merges for longer than the queue waits after it has taken its success back (E5). */
async function mergeEndsLate(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { mergesUncheckedHead: true } });
  await givenProject(stage.forge);
  await stage.forge.setProtection({ blockOnRejectedReviews: true });
  const pr = await givenScheduled(stage.forge, 'a');
  stage.forge.mergeBehaviour = () => ({ kind: 'slow', ms: SLOW_MERGE_MS });
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await stage.clock.advance(1_000);
  await stage.forge.review(pr, 'alice', 'reject');
  await look(stage, 20);
  if (stage.forge.merges().length === 0) return ['the scene did not come about'];
  const ends = (await stage.events()).flatMap(({ event, reason }) =>
    event === 'pr_landed' || event === 'pr_skipped' ? [`${event} ${reason}`] : [],
  );
  const problems = String(ends) === 'pr_landed null' ? [] : [`a late merge is told as ${ends}`];
  return hasAlarm(stage, 'unverified_landing') ? [...problems, 'a proven merge is alarmed'] : problems;
}

/** The list of a look still shows the base of before a merge that the same look sees, and another one is ready. */
async function baseIsReadBeforeLanding(): Promise<readonly string[]> {
  let before = '';
  const stage = await setStage({
    wrapForge: wrapForge(async (name, _args, answer) => {
      const pulls = await answer();
      if (name !== 'listOpenPullRequests' || before === '') return pulls;
      const baseTip = before;
      before = '';
      return (pulls as PullRequest[]).map((pull) => ({ ...pull, baseTip }));
    }),
  });
  await givenProject(stage.forge);
  const first = await givenScheduled(stage.forge, 'a');
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
  const second = await givenScheduled(stage.forge, 'b');
  before = await stage.forge.tip('main');
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  await stage.forge.review(first, 'alice', 'approve');
  await stage.clock.advance(5_000);
  const wasMerged = stage.forge.isMerged(first);
  await stage.drain({ maxMs: HOUR_MS });
  if (!wasMerged || before !== '' || !stage.forge.isMerged(second)) return ['the scene did not come about'];
  const runs = stage.forge.runs().length;
  return runs === 2 ? [] : [`${runs} runs for two, one of them on a base that a landing had replaced`];
}

/** Scheduled, pushed to by one who may not merge, and only then seen. */
async function pushBeforeFirstLook(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.clock.advance(60_000);
  await stage.forge.setAccess('stranger', 'read');
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' }, 'stranger');
  await look(stage, 4);
  const told = (await stage.events()).map(({ event }) => event).reverse();
  return told[0] === 'pr_queued' ? [] : [`the first that is told of it is ${told[0]}`];
}

/** Under its success it is moved to another branch with the same tip, and a person merges it there. */
async function mergeElsewhere(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushBranch('release', await forge.tip('main'));
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await forge.retarget(pr, 'release');
  await forge.mergeByHand(pr);
  await look(stage, 20);
  if (!forge.isMerged(pr)) return ['the scene did not come about'];
  const hasLanded = (await stage.events()).some(({ event }) => event === 'pr_landed');
  return hasLanded ? ['a merge into another branch is told as a landing'] : [];
}

/** A success stands, and for twenty minutes calls fail as told; the codes that the reconciles end with. */
async function failWhileLanding(fault: AbstractForge['fault']) {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  const word = async () => (await forge.status(headSha, DEFAULT_SERVICE_NAME))?.state;
  await stage.drain({ until: async () => (await word()) === 'success' });
  forge.fault = fault;
  const codes = new Set<unknown>();
  for (let looks = 0; looks < FAILING_LOOKS; looks += 1) {
    codes.add((await stage.reconcile())?.errorCode);
    await clock.advance(FAILING_LOOK_MS);
  }
  return { stage, headSha, codes: [...codes] };
}

/** The bot may not see the repository for a while amid a landing: all of it stands, and answers as if it were gone. */
async function hideWhileLanding(): Promise<readonly string[]> {
  const { stage, headSha, codes } = await failWhileLanding(() => ({ status: 404 }));
  const { pendingStatuses } = await stage.record();
  if (!pendingStatuses.some(({ sha, state }) => sha === headSha && state === 'pending'))
    return ['the success of a hidden head is forgotten'];
  return codes.join() === 'forge_access_denied' ? [] : [`it is told as ${codes.join()}`];
}

/** The list cannot be read for a while amid a landing, whose pull request can. */
async function unlistWhileLanding(): Promise<readonly string[]> {
  const { codes } = await failWhileLanding(({ method, path }) =>
    method === 'GET' && path.endsWith('/pulls') ? { status: 500 } : null,
  );
  return codes.join() === 'forge_unreachable' ? [] : [`it is told as ${codes.join()}`];
}

/** A tag of the base's name stands on an old commit of the base. */
async function tagLooksLikeBase(): Promise<readonly string[]> {
  const stage = await setStage({ switches: GITEA_126_SWITCHES });
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushTag(forge.base, await forge.tip(forge.base));
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: () => forge.isMerged(pr) });
  await stage.drain();
  const landed = (await stage.events()).find((event) => event.pr === pr && event.event === 'pr_landed');
  const merged = forge.merges().find((merge) => merge.pr === pr);
  if (landed === undefined || merged === undefined) return ['the scene did not come about'];
  const lateMs = landed.at - merged.at;
  return lateMs < SEEN_WITHIN_MS ? [] : [`a landing is seen ${lateMs} ms after its merge`];
}

/** The forge merges slowly, and a newer head is pushed meanwhile: that one has not landed, although its pull request is merged. */
function pushAmidMerge(slowMs: number, gate: 'held' | 'passes' = 'held'): () => Promise<readonly string[]> {
  return async () => {
    let newer: string | null = null;
    const stage = await setStage({
      switches: { mergesHeadItBeganWith: true },
      onEntry: (entry, { forge, clock }) => {
        if (!isSuccess(entry) || newer !== null) return;
        newer = '';
        if (gate === 'held') forge.judge = () => 'hold';
        clock.after(PUSHED_AFTER_MS, async () => {
          newer = await forge.pushToPullRequest(pr, { 'src/more.txt': 'more\n' });
        });
      },
    });
    const { forge } = stage;
    await givenProject(forge);
    const pr = await givenScheduled(forge, 'a');
    forge.mergeBehaviour = () => ({ kind: 'slow', ms: slowMs });
    await stage.drain({ maxMs: HOUR_MS });
    if ((await forge.pull(pr)).headSha !== newer) return ['the scene did not come about'];
    if (!forge.isMerged(pr)) return ['the scene did not come about'];
    const words = await wordsOn(stage, pr);
    const problems = words === describeLeftBehind() ? [] : [`a head that is in no base is told "${words}"`];
    if (hasAlarm(stage, 'unverified_landing')) problems.push('a proven merge is alarmed');
    const hasLanded = (await stage.events()).some((each) => each.pr === pr && each.event === 'pr_landed');
    if (!hasLanded) problems.push('a proven merge is not told as a landing');
    forge.judge = () => 'success';
    forge.mergeBehaviour = () => ({ kind: 'now' });
    const next = await givenScheduled(forge, 'next');
    await stage.drain({ maxMs: HOUR_MS });
    return forge.isMerged(next) ? problems : [...problems, 'the next one does not land'];
  };
}

/** A person marks one of the queue as merged by hand, staged or under its success: nothing merges, and the queue goes on. */
function markByHand(when: 'staged' | 'proven'): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage();
    const { forge } = stage;
    await givenProject(forge);
    forge.mergeBehaviour = () => ({ kind: 'lost' });
    if (when === 'staged') forge.judge = () => 'hold';
    const marked = await givenScheduled(forge, 'marked');
    await stage.drain({
      until: async () =>
        when === 'staged' ? forge.runs().length > 0 : (await wordOn(stage, marked)) === 'success',
    });
    await forge.markMerged(marked, await forge.tip('main'));
    forge.mergeBehaviour = () => ({ kind: 'now' });
    forge.judge = () => 'success';
    const other = await givenScheduled(forge, 'other');
    await look(stage, 20);
    if (!(await forge.pull(marked)).merged) return ['the scene did not come about'];
    const problems = hasAlarm(stage, 'unverified_landing') ? ['a mark as merged by hand is alarmed'] : [];
    if (!forge.isMerged(other)) problems.push('a mark as merged by hand stops the queue');
    const words = await wordsOn(stage, marked);
    return words === PULL_CODES.merged_outside_the_queue.says
      ? problems
      : [...problems, `its author is told "${words}"`];
  };
}

/** The forge drops the schedule before a merge that a push of its pull request makes fail. Another one is in line. */
async function pushAmidFailedMerge(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { rowDeletedBeforeMerge: true } });
  const { forge } = stage;
  await givenProject(forge);
  const pushed = await givenScheduled(forge, 'a');
  const other = await givenScheduled(forge, 'b');
  let isPushed = false;
  forge.mergeFails = (pr) => {
    if (pr !== pushed || isPushed) return false;
    isPushed = true;
    void forge.pushToPullRequest(pushed, { 'src/more.txt': 'more\n' });
    return true;
  };
  await look(stage, 10);
  if (!isPushed) return ['the scene did not come about'];
  const problems = forge.isMerged(other)
    ? []
    : ['another one waits for the merge of one that has no schedule'];
  const words = await wordsOn(stage, pushed);
  if (words !== PULL_CODES.schedule_lost.says)
    problems.push(`one whose schedule was dropped is told "${words}"`);
  return problems;
}

export const LANDING_SCENES = {
  'a head is pushed while the forge merges the one before it': pushAmidMerge(SHORT_MERGE_MS),
  'a head is pushed while the forge merges the one before it, for long': pushAmidMerge(SLOW_MERGE_MS),
  'a head is pushed while the forge merges the one before it, for longer than a gate run': pushAmidMerge(
    LONG_MERGE_MS,
    'passes',
  ),
  'one that is staged is marked as merged by hand': markByHand('staged'),
  'one is marked as merged by hand while its success stands': markByHand('proven'),
  'another account opens a merge, and its success outlives it': foreignSuccessOutlives,
  'the base is pushed back and restored': restoreBase,
  'the bot may not see the repository for a while amid a landing': hideWhileLanding,
  'the list cannot be read for a while amid a landing': unlistWhileLanding,
  'one of the queue is merged past it, and the base is read first': mergeOneOfTheQueue({
    list: 50_000,
    pull: 50_000,
  }),
  'one of the queue is merged past it, and the base is read last': mergeOneOfTheQueue({
    listRefs: 50_000,
    pullRefs: 50_000,
    branch: 50_000,
  }),
  'a merge ends long after its success was taken back': mergeEndsLate,
  'a push before the first look': pushBeforeFirstLook,
  'a push amid a merge that fails, before which the forge dropped the schedule': pushAmidFailedMerge,
  'a base is read before the landing that replaced it': baseIsReadBeforeLanding,
  'one is merged into another branch under its success': mergeElsewhere,
  'a tag of the base’s name stands on an old commit of it': tagLooksLikeBase,
} satisfies Scenes;
