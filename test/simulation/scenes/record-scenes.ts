import { givenProject, givenScheduled, judgeByContent } from '../../scenario/stories.ts';
import { Crash, type Machine } from '../../support/machine.ts';
import { hasAlarm, look, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';
import { givenStanding } from './recall-scenes.ts';

/** Scenes in which the queue record is lost. */

async function loseRecordUnderSuccess(): Promise<{ readonly stage: Stage; readonly pr: number }> {
  const { stage, pr } = await givenStanding();
  await stage.loseRecord();
  return { stage, pr };
}

/** The record is lost while a success stands: it is taken back before anything is begun anew (A24, A32). */
async function loseRecordInLanding(): Promise<readonly string[]> {
  const { stage, pr } = await loseRecordUnderSuccess();
  stage.forge.judge = () => 'hold';
  await look(stage, 2);
  return (await wordOn(stage, pr)) === 'success' ? ['a success outlived the record that knew of it'] : [];
}

/** … and its pull request has left the queue by the time it is rebuilt. */
async function loseRecordAndSchedule(): Promise<readonly string[]> {
  const { stage, pr } = await loseRecordUnderSuccess();
  await stage.forge.cancelSchedule(pr);
  await look(stage, 4);
  return (await wordOn(stage, pr)) === 'success' ? ['a success that nothing waits for stands'] : [];
}

/** The record is lost after the merge of a landing, and each row of its batch is resolved: what it told last names the landing. */
async function loseRecordWithoutRows(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.mergeBehaviour = () => ({ kind: 'slow', ms: 30_000 });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await stage.clock.advance(70_000);
  await stage.loseRecord();
  stage.store.listOwnBatches = async () => [];
  await look(stage, 2);
  return (await wordOn(stage, pr)) === 'success' ? ['a success stands on what has merged'] : [];
}

/** The record of a batch is lost whose gate run goes on: its row ends, and says why (A42). */
async function loseRecordInRun(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  await givenScheduled(stage.forge, 'a');
  await look(stage, 2);
  const lost = await stage.rows();
  await stage.loseRecord();
  await look(stage, 2);
  const ended = (await stage.rows()).filter(({ terminalReason }) => terminalReason === 'record_lost');
  if (lost.length === 0) return ['the scene did not come about'];
  return ended.length === lost.length ? [] : ['the row of a batch that no record knows goes on'];
}

/** A bounce is remembered by its words when the record that held it is lost (D-05). */
async function loseRecordAfterBounce(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = judgeByContent;
  const pr = await givenScheduled(stage.forge, 'a', 'BAD\n');
  await stage.drain();
  const runs = stage.forge.runs().length;
  await stage.loseRecord();
  await look(stage, 6);
  if ((await wordOn(stage, pr)) !== 'error') return ['the scene did not come about'];
  return stage.forge.runs().length === runs ? [] : ['a bounced pull request was staged again'];
}

/** A machine that dies right after the first save of all machines of a stage; the others live. */
function dieAfterFirstSave(): () => Machine {
  let saves = 0;
  return () => {
    let isDead = false;
    return {
      async io(label, call) {
        if (isDead) throw new Crash();
        const result = await call();
        if (label !== 'store saveQueue' || saves++ > 0) return result;
        isDead = true;
        throw new Crash();
      },
    };
  };
}

/** More events than one transaction takes: those that wait are stored by the next machine, each once (A42). */
async function crashBetweenWrites(): Promise<readonly string[]> {
  const stage = await setStage({ newMachine: dieAfterFirstSave() });
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  const prs: number[] = [];
  for (let index = 0; index < 105; index += 1) prs.push(await givenScheduled(stage.forge, `p${index}`));
  await stage.clock.advance(30_000);
  await look(stage, 4);
  const queued = (await stage.events()).filter(({ event }) => event === 'pr_queued').map(({ pr }) => pr);
  const isOnce = queued.length === prs.length && new Set(queued).size === prs.length;
  return isOnce ? [] : [`${queued.length} of ${prs.length} pull requests are told of`];
}

/** Many open pull requests beside the one that is scheduled, and a row that does not take what is known of all. */
async function outgrowRow(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  for (let index = 0; index < 100; index += 1)
    await stage.forge.openPullRequest({ branch: `idle-${index}`, title: `Idle ${index}`, files: {} });
  stage.store.documentBytesMax = 10_000;
  await givenScheduled(stage.forge, 'a');
  await stage.clock.advance(30_000);
  await look(stage, 6);
  return stage.forge.merges().length === 1 ? [] : ['nothing lands once the record has outgrown its row'];
}

/** … and one that takes nothing at all while a success stands: a push to the base must not be merged onto. */
async function outgrowRowInLanding(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  stage.store.documentBytesMax = 10;
  await stage.clock.advance(20_000);
  await look(stage, 2);
  return (await wordOn(stage, pr)) === 'success' ? ['a success that cannot be watched stands'] : [];
}

/** What is decided first fits its row, and what staging adds to it does not: what was written meanwhile is not written anew. */
async function outgrowRowInStaging(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { schedulePeople: ['lead'] } });
  await givenProject(stage.forge);
  const refused = await givenScheduled(stage.forge, 'refused');
  for (let index = 0; index < 12; index += 1) {
    const files = { [`src/f${index}.txt`]: 'x' };
    await stage.forge.scheduleAs('lead', await stage.forge.openPullRequest({ branch: `b${index}`, files }));
  }
  await stage.clock.advance(30_000);
  stage.store.afterCall = async (label) => {
    if (label !== 'saveQueue' || stage.store.documentBytesMax !== Number.POSITIVE_INFINITY) return;
    stage.store.documentBytesMax = JSON.stringify({ ...(await stage.record()), readings: [] }).length;
  };
  await look(stage, 6);
  if (!hasAlarm(stage, 'record_too_large')) return ['the scene did not come about'];
  const words = stage.forge.statusHistory((await stage.forge.pull(refused)).headSha);
  return words.length === 1 ? [] : [`the same words were written ${words.length} times`];
}

export const RECORD_SCENES = {
  'the record is lost in a landing': loseRecordInLanding,
  'the record of a landing is lost that no row tells of': loseRecordWithoutRows,
  'the record and the schedule are lost in a landing': loseRecordAndSchedule,
  'the record is lost after a bounce': loseRecordAfterBounce,
  'a crash between two writes of one save': crashBetweenWrites,
  'the record of a batch is lost whose gate run goes on': loseRecordInRun,
  'the record outgrows its row': outgrowRow,
  'the record outgrows its row in a landing': outgrowRowInLanding,
  'the record outgrows its row by what is staged': outgrowRowInStaging,
} satisfies Scenes;
