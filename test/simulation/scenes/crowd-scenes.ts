import { look, type Scenes, type Stage } from '../scene-stage.ts';
import { ask, askAll, many, setUp } from './fair-scenes.ts';

/** Scenes in which what one account has many of is tried beside the line of the others (decisions 0250, 0253 and 0256). */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

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
async function tryBesidePerson(): Promise<readonly string[]> {
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

/**
 * A person has a gate run, and an account schedules many beside it, with two slots and with one: its trials follow each
 * other in the free slot, the last one though it is small.
 */
async function tryInLastSlot(): Promise<readonly string[]> {
  const { stage, crowd } = await crowdBeside(2, 34);
  const first = (await placesOf(stage)).trial;
  await askAll(stage, ['bob']);
  await look(stage, 22);
  const second = (await placesOf(stage)).trial;
  await look(stage, 22);
  const third = (await placesOf(stage)).trial;
  const along = stage.forge.merges().filter(({ pr }) => first.includes(pr)).length;
  const one = await crowdBeside(1, 6);
  const atOnce = await placesOf(one.stage);
  await look(one.stage, 24);
  const { pipeline, trial } = await placesOf(one.stage);
  const tried = [...first, ...second, ...third];
  return [
    ...(crowd.every((pr) => tried.includes(pr)) ? [] : [`of the crowd only ${tried} are tried`]),
    ...(along === first.length ? [] : [`${along} of ${first.length} went along`]),
    ...(atOnce.trial.length + trial.length === 0 && pipeline.length > 0
      ? []
      : ['the only slot is spent on a trial']),
  ];
}

/** While a search of a person takes hours, an account has had its turn beside the line, and three others have theirs. */
async function tryInTurn(): Promise<readonly string[]> {
  const stage = await setUp({ bisectFanout: 3 });
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  await ask(stage, 'bob', 'bob', 'BAD\n');
  await look(stage, 2);
  await askAll(stage, many('agent', 30));
  await look(stage, 14);
  const first = (await placesOf(stage)).trial;
  stage.forge.gateDurationMs = 3 * HOUR_MS;
  await look(stage, 6);
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  await look(stage, 14);
  const soon = (await placesOf(stage)).trial;
  await askAll(stage, ['ann']);
  await look(stage, 26);
  const along = stage.forge.merges().filter(({ pr }) => first.includes(pr)).length;
  await askAll(stage, ['joe', 'kim', 'leo']);
  await look(stage, 26);
  const { trial } = await placesOf(stage);
  return [
    ...(soon.length === 0 ? [] : ['the crowd has a turn too soon']),
    ...(first.length > 4 && along === first.length ? [] : [`${along} of ${first.length} went along`]),
    ...(trial.length > 0 ? [] : ['the crowd has no turn']),
  ];
}

/** An account schedules many beside the incident of a person, and one of them has another priority. */
async function comeBesideIncident(): Promise<readonly string[]> {
  const labels = { incidentLabels: ['incident'], highLabels: ['high'] };
  const stage = await setUp({ bisectFanout: 8, ...labels, priorityPeople: ['oncall'] });
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  const [incident, first] = await askAll(stage, ['ann', ...many('agent', 12)]);
  await stage.forge.setLabel(incident as number, 'incident', true, 'oncall');
  await stage.forge.setLabel(first as number, 'high', true, 'oncall');
  await look(stage, 10);
  const { pipeline, trial } = await placesOf(stage);
  return pipeline.length > 1 && trial.length === 0 ? [] : [`${trial} are tried though no other came`];
}

/** A trial of an account takes three hours, and people land beside it. */
async function tryForHours(): Promise<readonly string[]> {
  const stage = await setUp({ bisectFanout: 2 });
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  await askAll(stage, ['ann']);
  await look(stage, 1);
  stage.forge.gateDurationMs = 3 * HOUR_MS;
  await askAll(stage, many('agent', 30));
  await look(stage, 2);
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  const first = (await placesOf(stage)).trial;
  const problems: string[] = first.length > 0 ? [] : ['none of the crowd is tried'];
  for (const author of ['bob', 'eve', 'joe', 'kim', 'leo']) {
    await askAll(stage, [author]);
    await look(stage, 24);
    const { trial } = await placesOf(stage);
    if (String(trial) !== String(first)) problems.push(`beside the trial ${first}: ${trial}`);
  }
  return problems;
}

/** The line is full with people, an account has passed beside it, and one more person comes. */
async function comeBesideFullLine(): Promise<readonly string[]> {
  const stage = await setUp({ bisectFanout: 8 });
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  await askAll(stage, ['eve']);
  await look(stage, 60);
  stage.forge.gateDurationMs = 3 * HOUR_MS;
  const people: number[] = [];
  for (const author of ['ann', 'bob', 'joe']) {
    people.push(...(await askAll(stage, [author])));
    await look(stage, 8);
  }
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  await askAll(stage, many('agent', 12));
  await look(stage, 12);
  const full = (await placesOf(stage)).pipeline;
  stage.forge.gateDurationMs = 3 * HOUR_MS;
  const [kim] = await askAll(stage, ['kim']);
  await look(stage, 4);
  const { pipeline } = await placesOf(stage);
  return [
    ...(String(full) === String(people) ? [] : [`a line of three has ${full}`]),
    ...(pipeline.includes(kim as number) ? [] : ['the line has no place more for others']),
  ];
}

/** A pull request comes every four minutes, each fifth one is bad, and a gate run takes ten minutes. */
async function comeWithBad(): Promise<readonly string[]> {
  const stage = await setUp({ bisectFanout: 4 });
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  const asked = new Map<number, number>();
  const landed = new Map<number, number>();
  for (let each = 1; each <= 75; each += 1) {
    const author = `dev${each}`;
    const isBad = each % 5 === 0;
    const pr = await ask(stage, author, author, isBad ? 'BAD\n' : '');
    if (!isBad) asked.set(pr, stage.clock.now());
    await look(stage, 8);
    for (const merge of stage.forge.merges())
      if (!landed.has(merge.pr)) landed.set(merge.pr, stage.clock.now());
  }
  const waits = [...asked].map(([pr, since]) => (landed.get(pr) ?? stage.clock.now()) - since);
  const longest = Math.max(...waits) / (10 * MINUTE_MS);
  return longest <= 12 ? [] : [`a good one waited for ${longest} gate runs`];
}

/** What was tried beside the line stands in it next; an hour after the last person an account stands in it at once. */
async function standAfterTrial(): Promise<readonly string[]> {
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

export const CROWD_SCENES = {
  'one account schedules many beside the gate run of a person': tryBesidePerson,
  'one account schedules many beside the gate run of a person, with few slots': tryInLastSlot,
  'one account schedules many beside the gate run of a person, and others come': tryInTurn,
  'one account is tried for hours beside the gate runs of others': tryForHours,
  'one account schedules many beside the incident of a person': comeBesideIncident,
  'one account has passed beside the gate run of a person': standAfterTrial,
  'a line is full beside an account with many, and others come': comeBesideFullLine,
  'a bad one comes with each four good ones': comeWithBad,
} satisfies Scenes;
