import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { StoreError } from '#core/ports/store.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { createWorldOn, type WorldOptions } from '../../scenario/world.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { hasAlarm, type Scenes, type Stage, wordOn, wordsOn } from '../scene-stage.ts';
import { givenUnanswered, landOtherAndComeBack, lookUntil } from './bad-head-scenes.ts';

/** Scenes about decision 0271: the wall clock of the engine is set anew, and that of the forge is not. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Each is told with a row of its own: more than one transaction takes. */
const MANY = 110;

async function setSteppedStage(
  options: Pick<WorldOptions, 'aroundStore' | 'mayBeOlder'> = {},
): Promise<{ readonly stage: Stage; readonly clock: SteppedClock }> {
  const time = new VirtualClock();
  const forge = createAbstractForge({ clock: time });
  const clock = new SteppedClock(time);
  const stage = await createWorldOn(clock, forge, forge.forge, { ...options, lastingEngine: true });
  return { stage, clock };
}

async function putClockForward(): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage();
  const { first } = await givenUnanswered(stage);
  clock.put(10 * MINUTE_MS);
  return landOtherAndComeBack(stage, first);
}

/** So much is told by the next look that its save takes two writes, and the second one is refused. */
async function putClockBackUnderRefusal(): Promise<readonly string[]> {
  let saves = 0;
  let isCounted = false;
  const refuseSecond = (label: string): void => {
    if (isCounted && label === 'saveQueue') saves += 1;
    if (isCounted && label === 'saveQueue' && saves === 2) throw new StoreError('unavailable', label);
  };
  const { stage, clock } = await setSteppedStage({
    aroundStore: { before: refuseSecond, after: () => undefined },
  });
  const { forge } = stage;
  const { first } = await givenUnanswered(stage);
  await forge.cancelSchedule(first);
  const many: number[] = [];
  for (let at = 0; at < MANY; at += 1) many.push(await givenScheduled(forge, `z${at}`));
  await lookUntil(stage, MINUTE_MS / 3, () => false);
  clock.put(-HOUR_MS);
  for (const pr of many) await forge.cancelSchedule(pr);
  isCounted = true;
  await stage.reconcile();
  if (saves < 2) return ['the scene did not come about'];
  isCounted = false;
  return landOtherAndComeBack(stage, first);
}

/** One engine begins with a clock that is an hour late; another one goes on; then the first, whose clock is right by now. */
async function putLateClockRight(): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 30_000;
  await stage.reconcile();
  await clock.advance(MINUTE_MS);
  stage.switchEngine('another');
  const pr = await givenScheduled(forge, 'a');
  await stage.reconcile();
  clock.put(HOUR_MS);
  await stage.reconcile();
  stage.switchEngine('first');
  const problems = await landsWithin(stage, pr, 10 * MINUTE_MS);
  return hasAlarm(stage, 'unverified_landing') ? [...problems, 'a proven landing is alarmed'] : problems;
}

/** Another engine went on with the record after that, and its success had no answer. */
async function putClockBackUnderAnother(): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage();
  await stage.reconcile();
  clock.put(-HOUR_MS);
  stage.switchEngine('another');
  const { first } = await givenUnanswered(stage);
  stage.switchEngine('first');
  return landOtherAndComeBack(stage, first);
}

async function putClockBackInRun(): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 40_000;
  await stage.reconcile();
  await clock.advance(MINUTE_MS);
  const pr = await givenScheduled(forge, 'a');
  await stage.reconcile();
  clock.put(-HOUR_MS);
  const problems = await landsWithin(stage, pr, 5 * MINUTE_MS);
  await lookUntil(stage, 20 * MINUTE_MS, () => false);
  return hasAlarm(stage, 'unverified_landing') ? [...problems, 'a proven landing is alarmed'] : problems;
}

/** The forge overlooks the success. */
async function putClockBackInLanding(): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  clock.put(-HOUR_MS);
  forge.mergeBehaviour = () => ({ kind: 'now' });
  return landsWithin(stage, pr, 10 * MINUTE_MS);
}

/** A push to the base came between a success and its merge, half an hour after the queue was switched on. */
async function putClockBackInHalt(): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage();
  const { forge } = stage;
  await givenProject(forge);
  await stage.settings({ enabledAt: clock.now() });
  await clock.advance(HOUR_MS / 2);
  let lost = 2;
  forge.mergeBehaviour = () => (lost-- > 0 ? { kind: 'lost' } : { kind: 'now' });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await forge.pushToBase({ 'pushed.txt': 'pushed\n' });
  await clock.advance(MINUTE_MS);
  await stage.drain({ maxMs: 5 * MINUTE_MS });
  if ((await stage.record()).halted === null) return ['the scene did not come about'];
  clock.put(-HOUR_MS);
  await lookUntil(stage, MINUTE_MS, () => false);
  if ((await stage.record()).halted === null) return ['a clock that was set back lifts a halt'];
  await stage.settings({ enabledAt: clock.now() });
  await lookUntil(stage, MINUTE_MS, () => false);
  return (await stage.record()).halted === null
    ? []
    : ['a clock that was set back keeps a halt from its end'];
}

async function landsWithin(stage: Stage, pr: number, maxMs: number): Promise<readonly string[]> {
  const hasLanded = await lookUntil(stage, maxMs, () => stage.forge.isMerged(pr));
  return hasLanded ? [] : ['a clock that was set back holds a landing up'];
}

/**
 * The machine is suspended after it has decided to post a success, and its wall clock is right when it goes on. Meanwhile a person
 * pushes to the base, the lease ends, and another worker takes over and takes all back.
 */
async function suspendBeforeSuccess(): Promise<readonly string[]> {
  let isToSleep = false;
  const { stage, clock } = await setSteppedStage({
    aroundStore: {
      before: (label) => {
        // A worker that takes the lease over finds the machine awake.
        if (label === 'acquireLease') clock.wakeUp();
        if (label === 'saveQueue' && isToSleep) {
          isToSleep = false;
          clock.suspend();
        }
      },
      after: () => undefined,
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 40_000;
  const pr = await givenScheduled(forge, 'a');
  await stage.reconcile();
  await clock.advance(MINUTE_MS);
  clock.after(MINUTE_MS / 2, async () => {
    await forge.pushToBase({ 'pushed.txt': 'pushed\n' });
  });
  await stage.loseLease();
  isToSleep = true;
  await stage.reconcile();
  if (clock.now() - clock.monotonic() < MINUTE_MS) return ['the scene did not come about'];
  const hasLanded = await lookUntil(stage, 10 * MINUTE_MS, () => forge.isMerged(pr));
  if ((await unprovenLandings(forge)).length > 0)
    return ['a success of a machine that was suspended merged what is not proven'];
  return hasLanded ? [] : ['a machine that was suspended keeps a landing from coming'];
}

/**
 * A virtual machine is put back to a snapshot in which the engine runs, and its wall clock is set right afterwards. What the queue
 * did since is gone from its store and from its memory: a success that it posted stands on the forge.
 */
async function revertMachine(): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage({ mayBeOlder: true });
  const { forge } = stage;
  await givenProject(forge);
  for (let index = 0; index < 25; index += 1)
    await forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  const worn = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' } });
  await lookUntil(stage, MINUTE_MS, () => false);
  const { headSha } = await forge.pull(worn);
  await forge.postStatusAs('mq-bot', headSha, DEFAULT_SERVICE_NAME, 'success');
  clock.put(HOUR_MS);
  await givenScheduled(forge, 'b');
  await stage.reconcile();
  await stage.reconcile();
  return (await wordOn(stage, worn)) === 'success' ? ['a success stands on what is not in the queue'] : [];
}

/** It was bounced for a failure that was a flake, and its author schedules it again, before or after the clock is set back. */
async function scheduleAgain(order: 'before' | 'after'): Promise<readonly string[]> {
  const { stage, clock } = await setSteppedStage();
  const { forge } = stage;
  await givenProject(forge);
  let isFlaky = true;
  forge.judge = (files) => (files.has('src/a.txt') && isFlaky ? 'failure' : 'success');
  const pr = await givenScheduled(forge, 'a');
  const isBounced = async () => (await wordsOn(stage, pr)).startsWith('bounced');
  await stage.drain({ until: isBounced });
  isFlaky = false;
  if (order === 'after') {
    clock.put(-HOUR_MS);
    await stage.reconcile();
  }
  await forge.cancelSchedule(pr);
  await lookUntil(stage, MINUTE_MS / 2, () => false);
  await forge.schedule(pr, 'squash');
  await stage.reconcile();
  if (order === 'before') clock.put(-HOUR_MS);
  return landsWithin(stage, pr, 30 * MINUTE_MS);
}

const putClockBackAfterSchedule = () => scheduleAgain('before');
const putClockBackBeforeSchedule = () => scheduleAgain('after');

export const CLOCK_SCENES = {
  'one that was bounced is scheduled again, and the clock is set back': putClockBackAfterSchedule,
  'the clock is set back, and one that was bounced is scheduled again': putClockBackBeforeSchedule,
  'the clock is set back, and the second write of a save is refused': putClockBackUnderRefusal,
  'the clock of one engine is an hour late, and is set right under another': putLateClockRight,
  'the clock is set forward after a success without an answer': putClockForward,
  'the clock is set back while a gate run goes on': putClockBackInRun,
  'the clock is set back while the forge overlooks a success': putClockBackInLanding,
  'the clock is set back while the queue stands still, and a person switches it off and on':
    putClockBackInHalt,
  'the clock is set back, and another engine has a success without an answer': putClockBackUnderAnother,
  'the machine is put back to a snapshot in which the engine runs': revertMachine,
  'the machine is suspended before it posts a success, and another worker takes over': suspendBeforeSuccess,
} satisfies Scenes;
