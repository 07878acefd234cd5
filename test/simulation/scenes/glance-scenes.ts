import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { describeInLine, isPromise } from '../../../engine-container/src/queue/words/phrases.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { givenProject } from '../../scenario/stories.ts';
import { Fleet } from '../fleet.ts';
import type { Odds } from '../odds.ts';
import { look, type Scenes, setStage } from '../scene-stage.ts';

/** Scenes in which a person presses the button, and the forge sends no event. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const GLANCES_PER_HOUR = 120;
/** The tick, and what an hour of it may have beside it. */
const LOOKS_PER_HOUR_MAX = 16;

const LOOKED = 'idle look idle';
const STAGED = 'event pr_staged';

/** One repository that is at rest, with a pull request; it was opened just now, and its event came. */
async function givenOpened(odds: Partial<Odds> = {}) {
  const fleet = await Fleet.start(1, { idleLooks: 1, ...odds });
  await fleet.pass(20 * MINUTE_MS);
  const [forge] = fleet.forges as [AbstractForge];
  const pr = await open(fleet, forge, 'first');
  let glances = 0;
  let looks = 0;
  fleet.onCall = (label) => {
    if (label === 'forge listTouchedPullRequests') glances += 1;
    if (label === 'store acquireLease') looks += 1;
  };
  const count = async (ms: number) => {
    [glances, looks] = [0, 0];
    await fleet.pass(ms);
    return { glances, looks };
  };
  return { fleet, forge, pr, count };
}

async function open(fleet: Fleet, forge: AbstractForge, name: string): Promise<number> {
  const pr = await forge.openPullRequest({ branch: name, files: { [`src/${name}.txt`]: `${name}\n` } });
  await fleet.wakeAll();
  return pr;
}

/** Since then none was staged. */
async function press(fleet: Fleet, forge: AbstractForge, pr: number): Promise<void> {
  fleet.seen.delete(STAGED);
  await forge.schedule(pr, 'squash');
}

/** Buttons are pressed at all times between two ticks. */
async function pressWithoutEvent(): Promise<readonly string[]> {
  const { fleet, forge } = await givenOpened();
  const problems: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const pr = await open(fleet, forge, `p${round}`);
    await fleet.pass(7 * MINUTE_MS + round * 37 * SECOND_MS);
    await press(fleet, forge, pr);
    await fleet.pass(MINUTE_MS);
    if (!fleet.seen.has(STAGED)) problems.push(`#${pr} waits for the tick`);
    await fleet.pass(10 * MINUTE_MS);
    if (!forge.isMerged(pr)) problems.push(`#${pr} did not land`);
  }
  return [...problems, ...fleet.problems];
}

/** The button is pressed within the second in which the pull request was opened, after the look at that. */
async function pressWithinTheSecond(): Promise<readonly string[]> {
  const { fleet, forge } = await givenOpened();
  await fleet.pass(6 * MINUTE_MS);
  await fleet.pass(SECOND_MS - (fleet.clock.now() % SECOND_MS));
  fleet.seen.delete(LOOKED);
  const pr = await open(fleet, forge, 'quick');
  const { updatedAt } = await forge.pull(pr);
  await fleet.pass(950);
  const isSeen = fleet.seen.has(LOOKED);
  await press(fleet, forge, pr);
  if (!isSeen || (await forge.pull(pr)).updatedAt !== updatedAt) return ['the scene did not come about'];
  await fleet.pass(MINUTE_MS);
  return fleet.seen.has(STAGED) ? fleet.problems : ['a schedule within the second waits for the tick'];
}

/** A gate run is out for minutes, and its verdict will come by an event: its polls are rare. */
async function pressDuringGateRun(): Promise<readonly string[]> {
  const { fleet, forge, pr } = await givenOpened();
  const { store } = fleet.service;
  for (const id of fleet.service.forges.keys()) {
    const repo = await store.getRepo(id);
    if (repo === null) return ['the scene did not come about'];
    await store.updateRepo({ ...repo, wakeupMode: 'webhook' });
    await store.noteHeard(id, 'run', fleet.clock.now());
  }
  const second = await open(fleet, forge, 'second');
  await fleet.pass(MINUTE_MS);
  forge.gateDurationMs = HOUR_MS;
  await forge.schedule(pr, 'squash');
  await fleet.wakeAll();
  await fleet.pass(MINUTE_MS);
  if (!fleet.seen.has(STAGED)) return ['the scene did not come about'];
  await forge.schedule(second, 'squash');
  await fleet.pass(45 * SECOND_MS);
  const isSeen = await isPromised(forge, (await forge.pull(second)).headSha);
  return isSeen ? fleet.problems : ['a schedule during a gate run waits for the next poll of the gate'];
}

/** An hour in which nothing happens any more, with messages that are delivered twice. */
async function glanceForAnHour(): Promise<readonly string[]> {
  const { fleet, count } = await givenOpened({ wakeTwice: 0.3 });
  await fleet.pass(5 * MINUTE_MS);
  const { glances, looks } = await count(50 * MINUTE_MS);
  const problems: string[] = [];
  if (glances > 1.5 * GLANCES_PER_HOUR) problems.push(`chains of glances multiply: ${glances} in 50 minutes`);
  if (looks > 1.5 * LOOKS_PER_HOUR_MAX) problems.push(`glances wake without news: ${looks} looks`);
  if (glances < GLANCES_PER_HOUR / 2) problems.push(`an active repository has ${glances} glances`);
  return [...problems, ...fleet.problems];
}

/** Half a day later the ticks alone are left. */
async function glanceAtNight(): Promise<readonly string[]> {
  const { fleet, count } = await givenOpened();
  await fleet.pass(11 * HOUR_MS);
  const { glances, looks } = await count(HOUR_MS);
  if (looks < 10) return ['the scene did not come about'];
  return glances === 0 ? fleet.problems : [`a quiet repository has ${glances} glances in an hour`];
}

/** A word of the queue from before it was left stands on a head, as if the word of its departure had been lost. */
const promise = (forge: AbstractForge, sha: string): Promise<void> =>
  forge.postStatusAs('mq-bot', sha, DEFAULT_SERVICE_NAME, 'pending', describeInLine(3));

async function isPromised(forge: AbstractForge, sha: string): Promise<boolean> {
  const status = await forge.status(sha, DEFAULT_SERVICE_NAME);
  return isPromise(status?.description ?? '');
}

/** No look of the engine would see it before its next full one. */
async function promiseAtRest(): Promise<readonly string[]> {
  const { fleet, forge, pr } = await givenOpened();
  await fleet.pass(2 * HOUR_MS);
  const { headSha } = await forge.pull(pr);
  await promise(forge, headSha);
  await fleet.pass(HOUR_MS);
  const isUntrue = await isPromised(forge, headSha);
  return isUntrue ? ['words that the queue goes on stand at rest'] : fleet.problems;
}

/** The record is new, and words are replaced that are of the queue's own account alone. */
async function promiseBeforeLostRecord(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': '1\n' } });
  const { headSha } = await forge.pull(pr);
  await promise(forge, headSha);
  await stage.loseRecord();
  await look(stage, 20);
  return (await isPromised(forge, headSha)) ? ['words that the queue goes on outlive the record'] : [];
}

export const GLANCE_SCENES = {
  'the button is pressed, and no event comes': pressWithoutEvent,
  'the button is pressed within the second of another change': pressWithinTheSecond,
  'the button is pressed during a gate run': pressDuringGateRun,
  'a repository is glanced at for an hour': glanceForAnHour,
  'a quiet repository is glanced at no more': glanceAtNight,
  'words that the queue goes on stand on a head at rest': promiseAtRest,
  'words that the queue goes on outlive the record': promiseBeforeLostRecord,
} satisfies Scenes;
