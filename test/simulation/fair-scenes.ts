import { givenProject } from '../scenario/stories.ts';
import { look, type Stage, setStage } from './scene-stage.ts';

/** Scenes of `scenes.ts` about turns between authors and heads whose failure is known (decisions 0215, 0216). */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function setUp(repo: Readonly<Record<string, unknown>> = {}): Promise<Stage> {
  const stage = await setStage({ repo });
  await givenProject(stage.forge);
  return stage;
}

async function ask(stage: Stage, author: string, by: string, content = ''): Promise<number> {
  const branch = `b${stage.clock.now()}`;
  const pr = await stage.forge.openPullRequest({ branch, author, files: { [`src/${branch}.txt`]: content } });
  await stage.forge.scheduleAs(by, pr);
  await stage.clock.advance(1_000);
  return pr;
}

async function askAll(stage: Stage, authors: readonly string[]): Promise<readonly number[]> {
  const prs: number[] = [];
  for (const author of authors) prs.push(await ask(stage, author, author));
  return prs;
}

const many = (author: string, count: number): readonly string[] => Array(count).fill(author);

/** `expected`: places in `authors`, in the order of their landings. */
function land(authors: readonly string[], expected: readonly number[]) {
  return async (): Promise<readonly string[]> => {
    const stage = await setUp();
    const prs = await askAll(stage, authors);
    await look(stage, 120);
    const order = stage.forge.merges().map(({ pr }) => prs.indexOf(pr));
    return String(order) === String(expected) ? [] : [`landed in the order ${order}`];
  };
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, place) => place);

/** One account schedules many, then a person some. */
export const scheduleBehindCrowd = land(
  [...many('agent', 6), ...many('ann', 4)],
  [0, 6, 7, 8, 1, 9, 2, 3, 4, 5],
);
/** Two accounts schedule many. */
export const scheduleTwoCrowds = land(
  [...many('agent', 5), ...many('helper', 5)],
  [0, 5, 1, 6, 2, 7, 3, 8, 4, 9],
);
/** Many accounts schedule some each, one of them a fifth of all. */
export const scheduleUnderShare = land(
  ['dev', 'ann', 'bob', 'eve', 'joe'].flatMap((author) => many(author, author === 'dev' ? 5 : 4)),
  upTo(21),
);
/** Two people schedule a few. */
export const scheduleFew = land([...many('dev', 4), ...many('ann', 2)], upTo(6));

/** One account has many in flight and many more, then a person comes. */
export async function comeBehindFlight(): Promise<readonly string[]> {
  const stage = await setUp();
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  await askAll(stage, many('agent', 24));
  await look(stage, 2);
  const { batches } = await stage.record();
  const inFlight = batches.reduce((sum, { members }) => sum + members.length, 0);
  const [person] = await askAll(stage, ['ann']);
  await look(stage, 120);
  const ahead = stage.forge.merges().findIndex(({ pr }) => pr === person);
  return inFlight < 24 && ahead === inFlight ? [] : [`${ahead} landed first, and ${inFlight} were in flight`];
}

/** One account schedules many, then a person one, before the queue has looked. */
export async function stageBesideCrowd(): Promise<readonly string[]> {
  const stage = await setUp();
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  const prs = await askAll(stage, [...many('agent', 12), 'ann']);
  await look(stage, 2);
  const { batches } = await stage.record();
  const places = batches[0]?.members.map(({ pr }) => prs.indexOf(pr)) ?? [];
  return String(places) === String([0, 12]) ? [] : [`${places} were staged together`];
}

/** One account has waited for hours with many, then a person comes. */
export async function comeBehindOldCrowd(): Promise<readonly string[]> {
  const stage = await setUp();
  const since = stage.clock.now();
  await stage.settings({ pause: { kind: 'pause', reason: null, since, until: since + 5 * HOUR_MS } });
  const crowd = await askAll(stage, many('agent', 6));
  await look(stage, 1);
  await stage.clock.advance(5 * HOUR_MS);
  const [person] = await askAll(stage, ['ann']);
  await look(stage, 120);
  const order = stage.forge.merges().map(({ pr }) => pr);
  const [oldest, ...others] = crowd;
  return String(order) === String([oldest, person, ...others]) ? [] : [`landed in the order ${order}`];
}

/** With so many slots: one lands, so that gate times are known, then a person comes and an account with many. */
async function crowdBeside(
  bisectFanout: number,
  count: number,
): Promise<{
  readonly stage: Stage;
  readonly crowd: readonly number[];
}> {
  const stage = await setUp({ bisectFanout });
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  await askAll(stage, ['bob']);
  await look(stage, 30);
  const [, ...crowd] = await askAll(stage, ['ann', ...many('agent', count)]);
  await look(stage, 2);
  return { stage, crowd };
}

async function placesOf(
  stage: Stage,
): Promise<{ readonly pipeline: readonly number[]; readonly trial: readonly number[] }> {
  const { batches } = await stage.record();
  const at = (place: string): readonly number[] =>
    batches.filter((batch) => batch.place === place).flatMap(({ members }) => members.map(({ pr }) => pr));
  return { pipeline: at('pipeline'), trial: at('trial') };
}

/** A person has a gate run, and an account schedules many beside it. */
export async function tryBesidePerson(): Promise<readonly string[]> {
  const { stage, crowd } = await crowdBeside(8, 40);
  const { pipeline, trial } = await placesOf(stage);
  const out = stage.forge.runs().filter(({ state }) => state === 'waiting' || state === 'running').length;
  const [late] = await askAll(stage, ['agent']);
  await look(stage, 8);
  const then = await placesOf(stage);
  await look(stage, 200);
  const landed = stage.forge.merges().length;
  return [
    ...(pipeline.some((pr) => crowd.includes(pr)) ? ['one of the crowd is in the line untried'] : []),
    ...(trial.length > 0 ? [] : ['none of the crowd is tried']),
    ...(out === 5 ? [] : [`${out} gate runs are out`]),
    ...(then.pipeline.includes(late as number) ? ['one more of the crowd is in the line untried'] : []),
    ...(landed === 43 ? [] : [`${landed} landed`]),
  ];
}

/** A person has a gate run, and an account schedules some beside it, with two slots and with one. */
export async function tryInLastSlot(): Promise<readonly string[]> {
  const [two, one] = [await crowdBeside(2, 6), await crowdBeside(1, 6)];
  const tried = (await placesOf(two.stage)).trial;
  await look(one.stage, 24);
  const { pipeline, trial } = await placesOf(one.stage);
  return [
    ...(tried.length > 0 ? [] : ['none of the crowd is tried']),
    ...(trial.length === 0 && pipeline.length > 0 ? [] : ['the only slot is spent on a trial']),
  ];
}

/** What was tried beside the line stands in it next; an hour after the last person an account stands in it at once. */
export async function standAfterTrial(): Promise<readonly string[]> {
  const { stage } = await crowdBeside(8, 6);
  const { trial } = await placesOf(stage);
  await look(stage, 10);
  const [late] = await askAll(stage, ['agent']);
  await look(stage, 8);
  const { pipeline } = await placesOf(stage);
  await look(stage, 8);
  const then = await placesOf(stage);
  await look(stage, 200);
  const later = await askAll(stage, many('agent', 6));
  await look(stage, 2);
  const atLast = await placesOf(stage);
  return [
    ...(pipeline.includes(late as number) ? ['one more of the crowd is in the line untried'] : []),
    ...(trial.some((pr) => then.trial.includes(pr)) ? ['it is tried again'] : []),
    ...(later.every((pr) => !atLast.trial.includes(pr)) ? [] : ['it is tried where no other comes']),
  ];
}

/** A head fails; then these schedule it again, one after the other, with a landing before each that is asked for. */
function failAgain(
  again: readonly {
    readonly by: string;
    readonly isTested: boolean;
    readonly moves?: true;
    readonly afterMs?: number;
  }[],
) {
  return async (): Promise<readonly string[]> => {
    const stage = await setUp({ bots: ['agent'] });
    const pr = await ask(stage, 'dev', 'agent', 'BAD\n');
    await look(stage, 40);
    const problems: string[] = stage.forge.runs().length > 0 ? [] : ['it was never tested'];
    for (const { by, isTested, moves, afterMs = MINUTE_MS } of again) {
      if (moves === true) await ask(stage, 'ann', 'ann');
      await look(stage, 20);
      const runs = stage.forge.runs().length;
      await stage.forge.cancelSchedule(pr);
      await stage.clock.advance(afterMs);
      await stage.forge.scheduleAs(by, pr);
      await look(stage, 40);
      const spent = stage.forge.runs().length - runs;
      if (spent > 0 !== isTested) problems.push(`${spent} gate runs for ${by}`);
    }
    return problems;
  };
}

/** A bot schedules a head that failed. */
export const failForBot = failAgain([
  { by: 'agent', isTested: false },
  { by: 'Agent', isTested: false, moves: true },
]);
/** A person schedules a head that failed, twice. */
export const failForPerson = failAgain([
  { by: 'dev', isTested: true },
  { by: 'dev', isTested: false },
]);
/** A person schedules a head that failed twice, an hour later and then all the time. */
export const failAfterAnHour = failAgain([
  { by: 'dev', isTested: true },
  { by: 'dev', isTested: true, afterMs: HOUR_MS },
  { by: 'dev', isTested: false },
]);
/** A person schedules a head that failed twice, on another base. */
export const failOnNewBase = failAgain([
  { by: 'dev', isTested: true },
  { by: 'dev', isTested: true, moves: true },
]);
