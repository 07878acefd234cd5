import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { giveUpFirst, postsSuccess } from '../../scenario/late-call.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

/** Scenes in which a success is carried out only after the record that told of it was lost. */

/** The success has no answer, the record is lost, and only then the forge carries it out. */
async function loseRecordBeforeLateSuccess(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  // Beside so many the patrol comes by seldom.
  for (let index = 0; index < 25; index += 1)
    await stage.forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  const pr = await givenScheduled(stage.forge, 'a');
  const head = (await stage.forge.pull(pr)).headSha;
  await stage.drain({ until: giveUpFirst(stage.forge, postsSuccess(head)) });
  await stage.loseRecord();
  await stage.forge.close(pr);
  await look(stage, 8);
  if (!stage.forge.statusHistory(head).some(({ state }) => state === 'success'))
    return ['the scene did not come about'];
  return (await wordOn(stage, pr)) === 'success' ? ['a success that came late stands for ever'] : [];
}

/** One look, and what happens after it, until the engine wants to look again: ten seconds at most. */
async function lookAsWoken(
  stage: Stage,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<void> {
  const report = await stage.reconcile();
  await meanwhile();
  const waitMs = (report?.wakeAt ?? Number.POSITIVE_INFINITY) - stage.clock.now();
  await stage.clock.advance(Math.max(1_000, Math.min(10_000, waitMs)));
}

/** The success of `a` has no answer, and the record is lost at once; the success is carried out so much later. */
async function givenLostBeforeSuccess(lateMs: number, idle = 0) {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  for (let index = 0; index < idle; index += 1)
    await forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  forge.judge = (files) => (files.has('src/a.txt') && files.has('src/b.txt') ? 'failure' : 'success');
  forge.gateDurationMs = 3_000;
  forge.lateEffectMs = lateMs;
  const a = await givenScheduled(forge, 'a');
  const head = (await forge.pull(a)).headSha;
  await stage.drain({ until: giveUpFirst(forge, postsSuccess(head)) });
  await stage.loseRecord();
  return { stage, forge, a, head };
}

/** The success of `a` has no answer, and what tells of it is gone at once; then an incident comes, and the success after it. */
function landBeforeLateSuccess(how: 'lost' | 'other check'): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage({ repo: { incidentLabels: ['incident'], priorityPeople: ['oncall'] } });
    const { forge } = stage;
    await givenProject(forge);
    forge.judge = (files) => (files.has('src/a.txt') && files.has('src/b.txt') ? 'failure' : 'success');
    forge.gateDurationMs = 3_000;
    forge.lateEffectMs = 100_000;
    const a = await givenScheduled(forge, 'a');
    const head = (await forge.pull(a)).headSha;
    const isLost = how === 'lost';
    if (!isLost) {
      await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, 'other/ci'] });
      await forge.postStatusAs('other-ci', head, 'other/ci', 'success');
    }
    await stage.drain({ until: giveUpFirst(forge, postsSuccess(head)) });
    if (isLost) await stage.loseRecord();
    else await forge.postStatusAs('other-ci', head, 'other/ci', 'pending');
    const b = await givenScheduled(forge, 'b');
    await forge.setLabel(b, 'incident', true, 'oncall');
    const headOfB = (await forge.pull(b)).headSha;
    if (!isLost) await forge.postStatusAs('other-ci', headOfB, 'other/ci', 'success');
    let isSeen = false;
    for (let looks = 0; looks < 30; looks += 1)
      await lookAsWoken(stage, async () => {
        // What was missing comes back: now any success opens the merge.
        if (!isLost && looks === 2) await forge.postStatusAs('other-ci', head, 'other/ci', 'success');
        isSeen ||= forge.statusHistory(head).some(({ state }) => state === 'success');
      });
    if (!isSeen) return ['the scene did not come about'];
    return (await unprovenLandings(forge)).map((pr) => `#${pr} landed on a state that no gate run saw`);
  };
}

const landBeforeLateSuccessOfLost = landBeforeLateSuccess('lost');
const landBeforeLateSuccessTakenBack = landBeforeLateSuccess('other check');

/** The record is lost, and the schedule is cancelled and made again, before the success is carried out. */
async function scheduleAgainBeforeLateSuccess(): Promise<readonly string[]> {
  const { stage, forge, a } = await givenLostBeforeSuccess(100_000);
  await forge.cancelSchedule(a);
  const b = await givenScheduled(forge, 'b');
  for (let looks = 0; looks < 30; looks += 1)
    await lookAsWoken(stage, async () => {
      if (looks === 8) await forge.schedule(a, 'squash');
    });
  if (!forge.isMerged(a) && !forge.isMerged(b)) return ['the scene did not come about'];
  return (await unprovenLandings(forge)).map((pr) => `#${pr} landed on a state that no gate run saw`);
}

/** The record is lost and its pull request closed: the success is carried out shortly before others may land. */
async function reopenAfterLateSuccess(): Promise<readonly string[]> {
  // Beside so many the patrol comes by seldom.
  const { stage, forge, a, head } = await givenLostBeforeSuccess(110_000, 25);
  await forge.close(a);
  const b = await givenScheduled(forge, 'b');
  for (let looks = 0; looks < 40 && !forge.isMerged(b); looks += 1) await lookAsWoken(stage);
  if (!forge.isMerged(b) || !forge.statusHistory(head).some(({ state }) => state === 'success'))
    return ['the scene did not come about'];
  return (await wordOn(stage, a)) === 'success'
    ? ['another one landed beside a success that nothing proves']
    : [];
}

export const LATE_SUCCESS_SCENES = {
  'the record is lost before its success is carried out': loseRecordBeforeLateSuccess,
  'the record is lost, and another one would land before its success is carried out':
    landBeforeLateSuccessOfLost,
  'a success without an answer is taken back, and another one would land before it is carried out':
    landBeforeLateSuccessTakenBack,
  'the record is lost, and its schedule is made again before its success is carried out':
    scheduleAgainBeforeLateSuccess,
  'the record is lost, and its pull request is closed and reopened around its success':
    reopenAfterLateSuccess,
} satisfies Scenes;
