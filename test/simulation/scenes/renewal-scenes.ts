import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scene, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** A deploy key pushes in the owner's name: no person asked for that head (decision 0003). */
async function pushByKey(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { batchLingerSeconds: 60 } });
  await givenProject(stage.forge);
  await stage.forge.addWritingKey();
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.reconcile();
  await stage.clock.advance(30_000);
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'of a workflow\n' }, 'acme');
  await look(stage, 8);
  return stage.forge.merges().length === 0 ? [] : ['the push of a deploy key asked for a merge'];
}

/** Closed, pushed to and opened again: no entry of the timeline tells of the push (decision 0003). */
async function pushWhileClosed(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 2);
  await stage.forge.close(pr);
  await look(stage, 2);
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'not asked for\n' });
  await stage.forge.reopen(pr);
  stage.forge.judge = () => 'success';
  await look(stage, 12);
  if (stage.forge.merges().length > 0) return ['a head that was pushed while it was closed landed unasked'];
  if (!/cancel its auto-merge and schedule again$/.test(await wordsOn(stage, pr)))
    return [`its author is told "${await wordsOn(stage, pr)}"`];
  await stage.forge.cancelSchedule(pr);
  await stage.forge.schedule(pr, 'squash');
  await look(stage, 4);
  return stage.forge.isMerged(pr) ? [] : ['the way back that its words name does not lead back'];
}

/** A branch beside the base, with a check of its own that is still to come. */
async function givenBranchBeside(forge: Stage['forge']): Promise<void> {
  await givenProject(forge);
  await forge.pushBranch('docs', await forge.tip('main'));
  await forge.setProtection({ requiredContexts: ['docs/check'] }, 'docs');
}

async function scheduleElsewhere({ forge, clock }: Stage): Promise<number> {
  const pr = await forge.openPullRequest({ branch: 'f', files: { 'src/f.txt': '1\n' }, base: 'docs' });
  await clock.advance(60_000);
  await forge.schedule(pr, 'squash');
  return pr;
}

/** Scheduled while it targeted another branch, and sent here by an account that may only read: no schedule asked for it here. */
async function sentHereUnderSchedule(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenBranchBeside(forge);
  const pr = await scheduleElsewhere(stage);
  await look(stage, 2);
  await forge.retarget(pr, 'main');
  await look(stage, 12);
  if (forge.merges().length > 0) return ['a schedule for another branch landed it here'];
  if ((await wordsOn(stage, pr)) !== PULL_CODES.other_target.says)
    return [`its author is told "${await wordsOn(stage, pr)}"`];
  await forge.pushToPullRequest(pr, { 'src/f.txt': '2\n' });
  await look(stage, 12);
  if (forge.merges().length > 0) return ['a push asked for a landing here'];
  await forge.cancelSchedule(pr);
  await forge.schedule(pr, 'squash');
  await look(stage, 6);
  return forge.isMerged(pr) ? [] : ['the way back that its words name does not lead back'];
}

/** The same, and the record is one that an older version has kept, which did not ask for which branch a schedule is. */
async function sentHereBeforeUpgrade(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, store } = stage;
  await givenBranchBeside(forge);
  const pr = await scheduleElsewhere(stage);
  await forge.retarget(pr, 'main');
  await stage.clock.advance(60_000);
  await look(stage, 2);
  const load = store.loadQueueRecord.bind(store);
  let isOld = true;
  store.loadQueueRecord = async (id) => {
    const loaded = await load(id);
    if (loaded === null || !isOld) return loaded;
    isOld = false;
    return { ...loaded, document: asOlderVersion(loaded.document as OldDocument) };
  };
  await look(stage, 14);
  return forge.merges().length === 0 ? [] : ['a schedule for another branch landed it after an upgrade'];
}

interface OldDocument {
  readonly line: readonly object[];
  readonly readings: readonly { readonly schedule: { readonly id: number; readonly at: number } }[];
}

function asOlderVersion({ readings, line, ...rest }: OldDocument): object {
  const [schedule] = readings.map(({ schedule: { id, at } }) => ({ kind: 'bound', id, at }));
  return {
    ...rest,
    outbox: [],
    readings: readings.map((reading) => ({ ...reading, judgedTarget: undefined, schedule })),
    line: line.map((entry) => ({
      ...entry,
      scheduleId: schedule?.id,
      movedAt: null,
      isForOtherTarget: undefined,
    })),
  };
}

/** The same, with the head of another one, which lands meanwhile: words about that landing are no words for this one. */
async function sentHereWithLandedHead(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenBranchBeside(forge);
  forge.judge = () => 'hold';
  const lands = await givenScheduled(forge, 'a');
  const { headSha: head } = await forge.pull(lands);
  const pr = await forge.openPullRequest({ branch: 'same', base: 'docs', files: {}, head });
  await forge.schedule(pr, 'squash');
  await look(stage, 2);
  await forge.retarget(pr, 'main');
  await look(stage, 2);
  forge.mergeBehaviour = (merged) => ({ kind: merged === lands ? 'now' : 'lost' });
  for (const { id } of forge.runs()) await forge.finishRun(id, 'success');
  await look(stage, 20);
  if (!forge.isMerged(lands)) return [`the scene did not come about: ${await wordsOn(stage, lands)}`];
  const words = await wordsOn(stage, pr);
  return words === PULL_CODES.other_target.says ? [] : [`its author is told "${words}"`];
}

/** Sent elsewhere and back: its schedule was made for this branch. */
async function sentElsewhereAndBack(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenBranchBeside(forge);
  const pr = await givenScheduled(forge, 'a');
  await forge.retarget(pr, 'docs');
  await look(stage, 4);
  await forge.retarget(pr, 'main');
  await look(stage, 6);
  return forge.isMerged(pr) ? [] : [`it does not land: ${await wordsOn(stage, pr)}`];
}

/** The same between two looks, on a forge whose entry of a push tells no more who pushed: the queue has seen this head. */
async function sentElsewhereUnseen(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { retargetRestatesPush: true } });
  const { forge } = stage;
  await givenBranchBeside(forge);
  forge.judge = () => 'hold';
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 2);
  await stage.clock.advance(60_000);
  await forge.retarget(pr, 'docs');
  await forge.retarget(pr, 'main');
  await look(stage, 2);
  for (const { id } of forge.runs()) await forge.finishRun(id, 'success');
  await look(stage, 12);
  return forge.isMerged(pr) ? [] : [`it does not land: ${await wordsOn(stage, pr)}`];
}

/**
 * One who may merge sends a head that another one pushed under the schedule elsewhere and back: the entry of a push that the forge
 * writes in that name is no push of theirs.
 */
async function sentBackByAnother(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { retargetRestatesPush: true } });
  const { forge, clock } = stage;
  await givenBranchBeside(forge);
  await forge.setProtection({ mergeList: ['dev'] });
  forge.judge = () => 'hold';
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 2);
  await clock.advance(60_000);
  await forge.pushToPullRequest(pr, { 'src/a.txt': 'not asked for\n' }, 'writer');
  await forge.retarget(pr, 'docs', 'dev');
  await clock.advance(8_000);
  await forge.retarget(pr, 'main', 'dev');
  forge.judge = () => 'success';
  await look(stage, 1);
  // No entry will tell who pushed: there is nothing that the queue could ask the forge.
  if (!/cancel its auto-merge and schedule again$/.test(await wordsOn(stage, pr)))
    return [`its author is told "${await wordsOn(stage, pr)}"`];
  await look(stage, 12);
  if (forge.merges().length > 0) return ['a head landed that the one who sent it back had not asked for'];
  await forge.cancelSchedule(pr);
  await forge.schedule(pr, 'squash');
  await look(stage, 4);
  return forge.isMerged(pr) ? [] : ['the way back that its words name does not lead back'];
}

/** The author of a fork goes back to a head that was approved before another one was scheduled. */
async function backToApproved(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await stage.forge.openPullRequest({ branch: 'f', files: { 'src/f.txt': '1\n' }, fork: true });
  await stage.forge.review(pr, 'reviewer', 'approve');
  const approved = (await stage.forge.pull(pr)).headSha;
  await stage.clock.advance(60_000);
  await stage.forge.pushToPullRequest(pr, { 'src/f.txt': '2\n' });
  await stage.clock.advance(60_000);
  await stage.forge.scheduleAs('dev', pr, 'squash');
  await look(stage, 4);
  await stage.forge.forcePushPullRequest(pr, approved);
  await look(stage, 8);
  return stage.forge.merges().length === 0 ? [] : ['a head from outside landed without a new approval'];
}

/** The push of one who may merge is the way back after a bounce, and nothing red stands meanwhile. */
async function fixAfterBounce(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'bad', 'BAD\n');
  stage.forge.judge = (files) => (files.get('src/bad.txt') === 'BAD\n' ? 'failure' : 'success');
  for (let count = 0; count < 10; count += 1) await look(stage, 4);
  const { headSha } = await stage.forge.pull(pr);
  if ((await stage.forge.status(headSha, DEFAULT_SERVICE_NAME))?.state !== 'error')
    return ['the scene did not come about'];
  stage.forge.judge = () => 'hold';
  await stage.forge.cancelSchedule(pr);
  await stage.forge.schedule(pr, 'squash');
  await look(stage, 2);
  const again = (await stage.forge.status(headSha, DEFAULT_SERVICE_NAME))?.state;
  stage.forge.judge = () => 'success';
  await stage.forge.pushToPullRequest(pr, { 'src/bad.txt': 'good\n' });
  for (let count = 0; count < 10; count += 1) await look(stage, 4);
  return [
    ...(again === 'error' ? ['a bounce stands red on a head that is tested again'] : []),
    ...(stage.forge.isMerged(pr) ? [] : ['a fix was pushed and does not land']),
  ];
}

/** The forge writes the entry of a push, after the schedule, only once the gate run of its head could have landed it. */
async function pushBeforeFastGate(): Promise<readonly string[]> {
  const stage = await setStage({ delays: { pushEntryMs: 9_500 } });
  await givenProject(stage.forge);
  await stage.forge.setAccess('stranger', 'read');
  stage.forge.gateDurationMs = 500;
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.clock.advance(1_000);
  const head = await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'not asked for\n' }, 'stranger');
  for (let count = 0; count < 60; count += 1) {
    await stage.reconcile();
    await stage.clock.advance(1_000);
  }
  const proven = stage.forge.statusHistory(head).some(({ state }) => state === 'success');
  return proven ? ['a head that no person with the right asked for was let through'] : [];
}

/** The timeline shows the first of two pushes after the schedule; the entry of the second comes later. */
async function pushTwice(): Promise<readonly string[]> {
  const stage = await setStage({ delays: { pushEntryMs: 30_000 } });
  await givenProject(stage.forge);
  await stage.forge.setAccess('stranger', 'read');
  stage.forge.gateDurationMs = 500;
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.clock.advance(1_000);
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'first\n' }, 'stranger');
  await stage.clock.advance(25_000);
  const head = await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'not asked for\n' }, 'stranger');
  await stage.clock.advance(6_000);
  for (let count = 0; count < 60; count += 1) {
    await stage.reconcile();
    await stage.clock.advance(1_000);
  }
  const proven = stage.forge.statusHistory(head).some(({ state }) => state === 'success');
  return proven ? ['a head that no person with the right asked for was let through'] : [];
}

/** The entry of a push from before the schedule comes late, while the forge does not say what its account may do. */
async function lateUnanswered(): Promise<readonly string[]> {
  let isFailing = false;
  const stage = await setStage({
    delays: { pushEntryMs: 6_000 },
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (isFailing && name === 'readWriteRight') throw new ForgeError('unreachable', name, 500);
      return answer();
    }),
  });
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  const pr = await stage.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a\n' } });
  await stage.clock.advance(60_000);
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' });
  await stage.forge.schedule(pr, 'squash');
  await stage.reconcile();
  isFailing = true;
  await look(stage, 4);
  isFailing = false;
  stage.forge.judge = () => 'success';
  for (const run of stage.forge.runs())
    if (run.state === 'running') await stage.forge.finishRun(run.id, 'success');
  await look(stage, 8);
  if (!stage.forge.isMerged(pr)) return ['a push from before the schedule, told late, kept its head back'];
  return stage.forge.runs().length === 1 ? [] : ['what stood was torn down for what could not be read'];
}

/** Two have one head and are refused; one of them moves on, which is said on that head, and the other is refused still. */
async function moveOffRefusedHead(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiredApprovals: 1 });
  const first = await forge.openPullRequest({ branch: 'first', files: { 'src/a.txt': '1\n' } });
  const { headSha: head } = await forge.pull(first);
  const other = await forge.openPullRequest({ branch: 'other', head });
  await clock.advance(60_000);
  for (const pr of [first, other]) await forge.schedule(pr, 'squash');
  await look(stage, 4);
  await forge.pushToPullRequest(first, { 'src/a.txt': '2\n' }, 'mallory');
  await look(stage, 8);
  const words = await wordsOn(stage, other);
  if ((await forge.pull(other)).headSha !== head) return ['the scene did not come about'];
  return words === PULL_CODES.approvals_missing.says ? [] : [`one that is refused still is told "${words}"`];
}

/** A push under a schedule that was not made for it (A30): the queue sees it for the first time, or knew the head before (D-03). */
function pushUnderSchedule(afterMs: number, isKnown: boolean): Scene {
  return async () => {
    // Until its entry is written, the timeline reads as if the new head had been scheduled.
    const delays = { pushEntryMs: isKnown ? 200_000 : 0 };
    const stage = await setStage({ repo: { batchLingerSeconds: 60 }, delays });
    await givenProject(stage.forge);
    const pr = await givenScheduled(stage.forge, 'a');
    if (isKnown) await stage.reconcile();
    await stage.clock.advance(afterMs);
    await stage.forge.setAccess('stranger', 'read');
    const head = await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'not asked for\n' }, 'stranger');
    await look(stage, 8);
    const proven = stage.forge.statusHistory(head).some(({ state }) => state === 'success');
    return proven ? ['a head that no person with the right asked for was let through'] : [];
  };
}

export const RENEWAL_SCENES = {
  'a push after a schedule': pushUnderSchedule(30_000, false),
  'a push right after a schedule': pushUnderSchedule(3_000, true),
  'a second push is not told yet': pushTwice,
  'a push within seconds after a schedule': pushUnderSchedule(3_000, false),
  'a push of which the queue learns after a fast gate run': pushBeforeFastGate,
  'the forge does not say who stands for a late push': lateUnanswered,
  'a deploy key pushes under a schedule': pushByKey,
  'a push while it is closed': pushWhileClosed,
  'a pull request that is scheduled for another branch is sent to this one': sentHereUnderSchedule,
  'a pull request was sent to this branch before an upgrade': sentHereBeforeUpgrade,
  'a pull request is sent to this branch with the head of one that lands': sentHereWithLandedHead,
  'a scheduled pull request is sent to another branch and back': sentElsewhereAndBack,
  'a scheduled pull request is sent to another branch and back between two looks': sentElsewhereUnseen,
  'one who may merge sends a head elsewhere and back': sentBackByAnother,
  'a fork goes back to an approved head': backToApproved,
  'one of two with a head that is refused moves on': moveOffRefusedHead,
  'a fix after a bounce': fixAfterBounce,
} satisfies Scenes;
