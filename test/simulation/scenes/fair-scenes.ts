import { ForgeError } from '#core/ports/forge.ts';
import { type Hook, wrapForge } from '../../scenario/hooks.ts';
import { givenProject } from '../../scenario/stories.ts';
import { dailyWindow, nextMinute } from '../../support/freeze-windows.ts';
import { look, type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes about turns between authors and heads whose failure is known (decisions 0215, 0216). */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export async function setUp(repo: Readonly<Record<string, unknown>> = {}): Promise<Stage> {
  const stage = await setStage({ repo });
  await givenProject(stage.forge);
  return stage;
}

export async function ask(stage: Stage, author: string, by: string, content = ''): Promise<number> {
  const branch = `b${stage.clock.now()}`;
  const pr = await stage.forge.openPullRequest({ branch, author, files: { [`src/${branch}.txt`]: content } });
  await stage.forge.scheduleAs(by, pr);
  await stage.clock.advance(1_000);
  return pr;
}

export async function askAll(stage: Stage, authors: readonly string[]): Promise<readonly number[]> {
  const prs: number[] = [];
  for (const author of authors) prs.push(await ask(stage, author, author));
  return prs;
}

export const many = (author: string, count: number): readonly string[] => Array(count).fill(author);

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
const scheduleBehindCrowd = land([...many('agent', 6), ...many('ann', 4)], [0, 6, 7, 8, 1, 9, 2, 3, 4, 5]);
/** Two accounts schedule many. */
const scheduleTwoCrowds = land([...many('agent', 5), ...many('helper', 5)], [0, 5, 1, 6, 2, 7, 3, 8, 4, 9]);
/** Many accounts schedule some each, one of them a fifth of all. */
const scheduleUnderShare = land(
  ['dev', 'ann', 'bob', 'eve', 'joe'].flatMap((author) => many(author, author === 'dev' ? 5 : 4)),
  upTo(21),
);
/** Two people schedule a few. */
const scheduleFew = land([...many('dev', 4), ...many('ann', 2)], upTo(6));

/** One account has many in flight and many more, then a person comes. */
async function comeBehindFlight(): Promise<readonly string[]> {
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
async function stageBesideCrowd(): Promise<readonly string[]> {
  const stage = await setUp();
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  const prs = await askAll(stage, [...many('agent', 12), 'ann']);
  await look(stage, 2);
  const { batches } = await stage.record();
  const places = batches[0]?.members.map(({ pr }) => prs.indexOf(pr)) ?? [];
  return String(places) === String([0, 12]) ? [] : [`${places} were staged together`];
}

/** … behind one in flight, and the list of pull requests cannot be read when they are staged. */
async function stageBesideCrowdUnlisted(): Promise<readonly string[]> {
  let isListed = true;
  const stage = await setStage({
    wrapForge: wrapForge(async (name, _, answer) => {
      if (name !== 'listOpenPullRequests' || isListed) return answer();
      throw new ForgeError('unreachable', name, 500, null, true);
    }),
  });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  const first = await ask(stage, 'bob', 'bob');
  await look(stage, 2);
  const prs = await askAll(stage, [...many('agent', 12), 'ann']);
  await look(stage, 2);
  isListed = false;
  await look(stage, 12);
  const { batches } = await stage.record();
  const places = batches.flatMap(({ members }) => members.map(({ pr }) => prs.indexOf(pr)));
  if (!stage.forge.isMerged(first)) return ['the scene did not come about'];
  return String(places) === String([0, 12]) ? [] : [`${places} were staged together`];
}

/** One account has waited for hours with many, then a person comes. */
async function comeBehindOldCrowd(): Promise<readonly string[]> {
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
const failForBot = failAgain([
  { by: 'agent', isTested: false },
  { by: 'Agent', isTested: false, moves: true },
]);
/** A person schedules a head that failed, twice. */
const failForPerson = failAgain([
  { by: 'dev', isTested: true },
  { by: 'dev', isTested: false },
]);
/** A person schedules a head that failed twice, an hour later and then all the time. */
const failAfterAnHour = failAgain([
  { by: 'dev', isTested: true },
  { by: 'dev', isTested: true, afterMs: HOUR_MS },
  { by: 'dev', isTested: false },
]);
/** A person schedules a head that failed twice, on another base. */
const failOnNewBase = failAgain([
  { by: 'dev', isTested: true },
  { by: 'dev', isTested: true, moves: true },
]);

/** A look that comes to rest makes fewer. */
const LOOK_CALLS_MAX = 200;
const HOT = 'src/hot.txt';

/**
 * In a freeze window the bad one of ann is urgent and is searched; then one of agent that touches its file becomes urgent too.
 * That agent has four more in line, which are not: the last batch leaves no crowd behind.
 */
function standBesideSuspect(
  line: readonly ('ann' | 'agent' | 'late' | 'bob')[],
  waitedMs: number,
  label?: string,
) {
  return async (): Promise<readonly string[]> => {
    let calls = 0;
    const count: Hook = (_name, _args, answer) => {
      calls += 1;
      return answer();
    };
    const labels = { freezeExemptLabels: ['urgent'], lowLabels: ['low'], priorityPeople: ['oncall'] };
    const stage = await setStage({ repo: { bisectFanout: 4, ...labels }, wrapForge: wrapForge(count) });
    const { forge, clock } = stage;
    await givenProject(forge);
    forge.gateDurationMs = 10 * MINUTE_MS;
    const since = nextMinute(clock.now());
    await stage.settings({ freezeWindows: [dailyWindow(since, since + 9 * HOUR_MS)] });
    await clock.advance(since - clock.now());
    const prs: number[] = [];
    for (const [place, who] of line.entries()) {
      const file = who === 'ann' || who === 'late' ? HOT : `src/f${place}.txt`;
      const author = who === 'late' ? 'agent' : who;
      const files = { [file]: who === 'ann' ? 'BAD\n' : 'good\n' };
      const pr = await forge.openPullRequest({ branch: `b${place}`, author, files });
      await forge.scheduleAs(author, pr);
      await clock.advance(1_000);
      prs.push(pr);
    }
    const [searched = 0, late = 0] = [prs[line.indexOf('ann')], prs[line.indexOf('late')]];
    if (label !== undefined) await forge.setLabel(searched, label, true, 'oncall');
    await look(stage, 1);
    await clock.advance(waitedMs);
    await forge.setLabel(searched, 'urgent', true, 'oncall');
    await look(stage, 21);
    const isSearched = (await stage.record()).batches.some(({ place }) => place === 'suspect');
    await forge.setLabel(late, 'urgent', true, 'oncall');
    let most = 0;
    for (let each = 0; each < 80; each += 1) {
      calls = 0;
      await look(stage, 1);
      most = Math.max(most, calls);
    }
    return [
      ...(isSearched ? [] : ['the scene did not come about']),
      ...(most <= LOOK_CALLS_MAX ? [] : [`a look made ${most} calls and did not come to rest`]),
      ...(forge.isMerged(late) ? [] : ['one that was set aside did not land after the search']),
    ];
  };
}

/** By its schedule it stands before what is searched, in its turn behind it. */
const standBehindLaterSuspect = standBesideSuspect(
  ['agent', 'late', 'ann', 'agent', 'agent', 'agent', 'bob'],
  0,
);
/** What is searched has a lower priority, and has waited for so long that it counts as much. */
const standBehindAgedSuspect = standBesideSuspect(
  ['ann', 'agent', 'late', 'agent', 'agent', 'agent'],
  4.1 * HOUR_MS,
  'low',
);

export const FAIR_SCENES = {
  'what is urgent stands before a suspect by its schedule, and behind it in its turn':
    standBehindLaterSuspect,
  'what is urgent stands behind a suspect that has aged': standBehindAgedSuspect,
  'one account schedules many, then a person some': scheduleBehindCrowd,
  'two accounts schedule many': scheduleTwoCrowds,
  'one account schedules many, then a person one': stageBesideCrowd,
  'many accounts schedule some each': scheduleUnderShare,
  'two people schedule a few': scheduleFew,
  'one account has many in flight, then a person comes': comeBehindFlight,
  'one account has waited for hours with many, then a person comes': comeBehindOldCrowd,
  'a bot schedules a head that failed': failForBot,
  'a person schedules a head that failed, twice': failForPerson,
  'a person schedules a head that failed twice, on another base': failOnNewBase,
  'a person schedules a head that failed twice, an hour later': failAfterAnHour,
  'many of one account are staged while the list cannot be read': stageBesideCrowdUnlisted,
} satisfies Scenes;
