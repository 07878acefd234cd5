import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../../scenario/stories.ts';
import { STATUS_GATE } from '../../scenario/world.ts';
import { type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes in which the forge tells of gate runs that wait for a runner (decision 0248). */

const MINUTE_MS = 60_000;
const LOOK_MS = 20_000;
const GATE_MS = 10 * MINUTE_MS;
const FANOUT = 16;
/** In twelve gate durations. */
const TRIES_MAX = 4;

interface Seen {
  /** Gate runs that a runner had taken, at the same time, at most. */
  running: number;
  /** Gate runs that no runner had taken, at the same time, at most. */
  waiting: number;
  /** Gate runs that were out, at the same time, at most. */
  out: number;
  /** Numbers of runners that were known, in order. */
  readonly known: number[];
}

async function begin(): Promise<Stage> {
  const stage = await setStage({ repo: { bisectFanout: FANOUT } });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = GATE_MS;
  return stage;
}

async function schedule({ forge }: Stage, name: string, count: number): Promise<readonly number[]> {
  const prs: number[] = [];
  for (let each = 0; each < count; each += 1) prs.push(await givenScheduled(forge, `${name}${each}`));
  return prs;
}

async function watch(stage: Stage, minutes: number): Promise<Seen> {
  const seen: Seen = { running: 0, waiting: 0, out: 0, known: [] };
  for (let ms = 0; ms < minutes * MINUTE_MS; ms += LOOK_MS) {
    await stage.reconcile();
    await stage.clock.advance(LOOK_MS);
    const states = stage.forge.runs().map(({ state }) => state);
    const running = states.filter((state) => state === 'running').length;
    const waiting = states.filter((state) => state === 'waiting').length;
    seen.running = Math.max(seen.running, running);
    seen.waiting = Math.max(seen.waiting, waiting);
    seen.out = Math.max(seen.out, running + waiting);
    const { runnersSeen } = await stage.record();
    if (runnersSeen !== undefined && runnersSeen !== seen.known.at(-1)) seen.known.push(runnersSeen);
  }
  return seen;
}

function stuck({ forge }: Stage, prs: readonly number[]): readonly string[] {
  return prs.filter((pr) => !forge.isMerged(pr)).map((pr) => `#${pr} did not land`);
}

/** One runner has a long gate run, and a pull request that changes the gate waits behind it; its own run takes so long. */
async function changeGateBehindRun(runMs: number): Promise<readonly string[]> {
  const stage = await begin();
  const first = await schedule(stage, 'first', 1);
  await watch(stage, 15);
  Object.assign(stage.forge, { runners: 1, gateDurationMs: 4 * GATE_MS });
  const other = await schedule(stage, 'a', 1);
  await watch(stage, 2);
  stage.forge.gateDurationMs = runMs;
  const files = { [GATE_PATH]: `# better\n${GATE_FILE}` };
  const editor = await stage.forge.openPullRequest({ branch: 'gate', files });
  await stage.forge.schedule(editor, 'squash');
  await watch(stage, 60);
  return stuck(stage, [...first, ...other, editor]);
}

const waitWithChangedGate = () => changeGateBehindRun(MINUTE_MS);
/** … and is seen to run for longer than it may take, counted from when it was staged. */
const runLongWithChangedGate = () => changeGateBehindRun(GATE_MS);

/** Three runners, and a line that would keep sixteen busy. */
async function fillFewRunners(): Promise<readonly string[]> {
  const stage = await begin();
  stage.forge.runners = 3;
  const prs = await schedule(stage, 'a', 16);
  const first = await watch(stage, 30);
  const later = await schedule(stage, 'b', 60);
  const { out } = await watch(stage, 60);
  await watch(stage, 240);
  return [
    ...(first.out > 4 ? [] : [`the scene did not come about: ${first.out} were out`]),
    ...(out <= 4 ? [] : [`${out} gate runs were out on three runners`]),
    ...stuck(stage, [...prs, ...later]),
  ];
}

/** Three runners that take their next run so long after they have ended one, and a line that never ends. */
async function keepFewRunnersBusy(runnerRestMs = 0): Promise<readonly string[]> {
  const stage = await begin();
  Object.assign(stage.forge, { runners: 3, runnerRestMs });
  const prs = [...(await schedule(stage, 'a', 16))];
  await watch(stage, 30);
  let last = 0;
  let tries = 0;
  for (let minute = 0; minute < 120; minute += 1) {
    prs.push(...(await schedule(stage, `b${minute}-`, 1)));
    for (const count of (await watch(stage, 1)).known) {
      if (count > 3 && last <= 3) tries += 1;
      last = count;
    }
  }
  await watch(stage, 240);
  return [
    ...(tries > 0 ? [] : ['the scene did not come about']),
    ...(tries <= TRIES_MAX ? [] : [`a fourth runner was tried ${tries} times`]),
    ...stuck(stage, prs),
  ];
}

/** Three runners and a run that waits; then there are plenty of runners, and a long line. */
async function gainRunners(): Promise<readonly string[]> {
  const stage = await begin();
  stage.forge.runners = 3;
  const prs = await schedule(stage, 'a', 8);
  await watch(stage, 5);
  const { runnersSeen } = await stage.record();
  stage.forge.runners = Number.POSITIVE_INFINITY;
  await watch(stage, 30);
  let used = 0;
  const later: number[] = [];
  for (let minute = 0; minute < 40; minute += 1) {
    later.push(...(await schedule(stage, `b${minute}-`, 4)));
    used = Math.max(used, (await watch(stage, 1)).running);
  }
  await watch(stage, 120);
  return [
    ...(runnersSeen === undefined ? ['the scene did not come about'] : []),
    ...(used >= 7 ? [] : [`of plenty of runners ${used} are used`]),
    ...stuck(stage, [...prs, ...later]),
  ];
}

/** Plenty of runners, each of which takes a run after forty seconds, and a line that grows. */
async function askRunnersSeldom(): Promise<readonly string[]> {
  const stage = await begin();
  stage.forge.runnerWaitMs = 40_000;
  const prs = [...(await schedule(stage, 'a', 1))];
  await watch(stage, 2);
  let used = 0;
  for (let minute = 0; minute < 5; minute += 1) {
    prs.push(...(await schedule(stage, `b${minute}-`, 8)));
    used = Math.max(used, (await watch(stage, 1)).running);
  }
  await watch(stage, 120);
  return [...(used >= 12 ? [] : [`of plenty of runners ${used} are used`]), ...stuck(stage, prs)];
}

/** The second run of one that failed asks for a runner that does not exist; others go on beside it. */
async function askForNoRunner(): Promise<readonly string[]> {
  const stage = await begin();
  const { forge } = stage;
  await stage.settings({ gateTimeoutMinutes: 0 });
  await givenScheduled(forge, 'bad', 'BAD\n');
  await watch(stage, 8);
  forge.runnerWaitMs = Number.POSITIVE_INFINITY;
  const { waiting } = await watch(stage, 4);
  forge.runnerWaitMs = 0;
  const later = await schedule(stage, 'c', 40);
  const { known } = await watch(stage, 60);
  return [
    ...(waiting > 0 ? [] : ['the scene did not come about']),
    ...(known.length === 0 ? [] : [`by a run that no runner ever takes, ${known} runners are known`]),
    ...stuck(stage, later),
  ];
}

/** What was learned of runners of the forge, and then another CI is the gate. */
async function leaveRunners(): Promise<readonly string[]> {
  const stage = await begin();
  stage.forge.runners = 2;
  await schedule(stage, 'a', 20);
  await watch(stage, 15);
  const { runnersSeen } = await stage.record();
  await stage.settings(STATUS_GATE);
  await watch(stage, 2);
  const kept = (await stage.record()).runnersSeen;
  return [
    ...(runnersSeen === undefined ? ['the scene did not come about'] : []),
    ...(kept === undefined ? [] : [`${kept} runners are held to be those of another CI`]),
  ];
}

export const RUNNER_SCENES = {
  'there are three runners and a long line': fillFewRunners,
  'there are three runners and a line that never ends': keepFewRunnersBusy,
  'three runners take their next run thirty seconds later': () => keepFewRunnersBusy(30_000),
  'a changed gate waits for the runner of another run': waitWithChangedGate,
  'there were three runners, and now there are plenty': gainRunners,
  'runners ask for work once a minute': askRunnersSeldom,
  'a second gate run asks for a runner that does not exist': askForNoRunner,
  'there were two runners, and now another CI is the gate': leaveRunners,
  'one that changes the gate waits behind a run, and runs for long': runLongWithChangedGate,
} satisfies Scenes;
