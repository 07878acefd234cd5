import { AnswerTooLarge } from '#core/ports/forge.ts';
import type { JournalEntry } from '../../fakes/abstract-forge/world.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { isSuccess, look, type Scene, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** Entries that say nothing to the queue, one every ten seconds. */
async function writeEntries({ forge, clock }: Stage, pr: number, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    await forge.setTitle(pr, `title ${nth}`);
    await clock.advance(10_000);
  }
}

/** A push that no person with the right asked for stands behind more entries than the first reading comes to. */
async function pushBehindEntries(): Promise<readonly string[]> {
  const stage = await setStage({ lastingEngine: true });
  const { forge } = stage;
  forge.timelineRowsMax = 20;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await writeEntries(stage, pr, 30);
  await forge.setAccess('stranger', 'read');
  await forge.pushToPullRequest(pr, { 'src/a.txt': 'not asked for\n' }, 'stranger');
  await look(stage, 12);
  if (forge.isMerged(pr) || forge.runs().length > 0)
    return ['a head that no person with the right asked for was staged'];
  if (!/schedule again$/.test(await wordsOn(stage, pr)))
    return [`its author is told "${await wordsOn(stage, pr)}"`];
  await forge.cancelSchedule(pr);
  await forge.schedule(pr, 'squash');
  await look(stage, 6);
  return forge.isMerged(pr) ? [] : ['the way back that its words name does not lead back'];
}

/** A schedule, and the cancel of one that is in flight, stand behind thousands of entries. */
async function cancelBehindEntries(): Promise<readonly string[]> {
  const stage = await setStage({ lastingEngine: true });
  const { forge } = stage;
  forge.timelineRowsMax = 20;
  await givenProject(forge);
  forge.judge = () => 'hold';
  const pr = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a\n' } });
  await writeEntries(stage, pr, 1_000);
  await forge.schedule(pr, 'squash');
  await look(stage, 4);
  if (forge.runs().length === 0) return ['it was not staged'];
  await writeEntries(stage, pr, 100);
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  for (const run of forge.runs()) await forge.finishRun(run.id, 'success');
  await look(stage, 4);
  const { entries, batches } = await stage.record();
  return forge.isMerged(pr) || entries.length + batches.length > 0 ? ['it goes on after its cancel'] : [];
}

/** Each answer about one pull request takes most of a look. */
async function longBesideAnother(): Promise<readonly string[]> {
  let long = 0;
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [pr], answer) => {
      if (name === 'readTimeline' && pr === long) await stage.clock.advance(11_000);
      return answer();
    }),
  });
  const { forge } = stage;
  forge.timelineRowsMax = 5;
  await givenProject(forge);
  long = await forge.openPullRequest({ branch: 'talk', files: { 'src/talk.txt': 'talk\n' } });
  await writeEntries(stage, long, 2_000);
  await look(stage, 1);
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 8);
  return forge.isMerged(pr) ? [] : ['one waits for the timeline of another'];
}

/** A stranger writes a comment that is larger than any answer may be: another pull request lands, and no look fails. */
async function tooLargeBesideAnother(): Promise<readonly string[]> {
  let large = 0;
  let asked = 0;
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [pr], answer) => {
      if (name !== 'readTimeline' || pr !== large) return answer();
      asked += 1;
      await stage.clock.advance(11_000);
      throw new AnswerTooLarge('GET issues/{n}/timeline');
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  large = await forge.openPullRequest({ branch: 'talk', files: { 'src/talk.txt': 'talk\n' } });
  const pr = await givenScheduled(forge, 'a');
  const failed: string[] = [];
  for (let looks = 0; looks < 10; looks += 1) {
    const report = await stage.reconcile();
    if (report === null || report.errorCode !== null)
      failed.push('a look fails on a timeline that no answer holds');
    await stage.clock.advance(30_000);
  }
  if (!forge.isMerged(pr)) failed.push('one waits for the timeline of another');
  return asked > 2 ? [...failed, 'what no answer holds is asked for at each look'] : failed;
}

/** The same comment on one that is staged, at this moment: the other one of its batch lands all the same. */
function tooLargeInFlight(isMoment: (entry: JournalEntry, pr: number) => boolean): Scene {
  return async () => {
    let large = 0;
    let isWritten = false;
    const stage: Stage = await setStage({
      lastingEngine: true,
      onEntry: (entry) => {
        if (isWritten || !isMoment(entry, large)) return;
        isWritten = true;
        stage.clock.after(100, () => stage.forge.setTitle(large, 'talk'));
      },
      wrapForge: wrapForge(async (name, [pr], answer) => {
        if (name !== 'readTimeline' || pr !== large || !isWritten) return answer();
        await stage.clock.advance(11_000);
        throw new AnswerTooLarge('GET issues/{n}/timeline');
      }),
    });
    const { forge } = stage;
    await givenProject(forge);
    large = await givenScheduled(forge, 'a');
    const others = [await givenScheduled(forge, 'b'), await givenScheduled(forge, 'c')];
    await look(stage, 30);
    if (!isWritten) return ['the scene did not come about'];
    return others.every((pr) => forge.isMerged(pr))
      ? []
      : ['others wait for one whose timeline no answer holds'];
  };
}

export const LONG_TIMELINE_SCENES = {
  'a comment that no answer holds beside a schedule': tooLargeBesideAnother,
  'a comment that no answer holds on one that is staged': tooLargeInFlight(
    (entry) => entry.kind === 'status' && entry.description.startsWith('staged'),
  ),
  'a comment that no answer holds on one that lands': tooLargeInFlight((entry) => isSuccess(entry)),
  'a push behind more entries than a reading comes to': pushBehindEntries,
  'a schedule and its cancel behind a thousand entries': cancelBehindEntries,
  'a timeline that takes all the time of a look beside a schedule': longBesideAnother,
} satisfies Scenes;
