import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes about the order of the queue (decision 0206). */

const MINUTE_MS = 60_000;
const MANY = 40;
const PEOPLE = { incidentLabels: ['incident'], priorityPeople: ['oncall'] } as const;

/** The gate takes 20 minutes, which one landing has taught; then one more is staged. */
async function stageOne(bisectFanout = 1): Promise<{ readonly stage: Stage; readonly first: number }> {
  const stage = await setStage({ repo: { ...PEOPLE, bisectFanout } });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 20 * MINUTE_MS;
  await givenScheduled(stage.forge, 'before');
  await look(stage, 50);
  const first = await givenScheduled(stage.forge, 'a');
  await look(stage, 2);
  return { stage, first };
}

const order = (stage: Stage): readonly number[] => stage.forge.merges().map(({ pr }) => pr);

async function addIncident(stage: Stage, by: string): Promise<number> {
  const pr = await givenScheduled(stage.forge, 'fix');
  await stage.forge.setLabel(pr, 'incident', true, by);
  return pr;
}

/** An incident comes right after a batch was staged. */
async function incidentEarly(): Promise<readonly string[]> {
  const { stage, first } = await stageOne();
  const incident = await addIncident(stage, 'oncall');
  await look(stage, 100);
  return String(order(stage).slice(1)) === String([incident, first])
    ? []
    : ['an incident waited for a gate run that had just begun'];
}

/** An incident comes when a gate run is nearly over. */
async function incidentLate(): Promise<readonly string[]> {
  const { stage, first } = await stageOne();
  const runs = stage.forge.runs().length;
  await look(stage, 26);
  const incident = await addIncident(stage, 'oncall');
  await look(stage, 100);
  const problems = String(order(stage).slice(1)) === String([first, incident]) ? [] : ['not in order'];
  return stage.forge.runs().length - runs > 1
    ? [...problems, 'a gate run that was more than half done was thrown away']
    : problems;
}

/** An incident comes right after a batch was staged, and a slot is free. */
async function incidentBesideSlot(): Promise<readonly string[]> {
  const { stage, first } = await stageOne(4);
  const runs = stage.forge.runs().length;
  const incident = await addIncident(stage, 'oncall');
  await look(stage, 100);
  const problems = String(order(stage).slice(1)) === String([first, incident]) ? [] : ['not in order'];
  return stage.forge.runs().length - runs > 1
    ? [...problems, 'a gate run was thrown away although a slot was free']
    : problems;
}

/** A stranger puts the label on. */
async function incidentOfStranger(): Promise<readonly string[]> {
  const { stage, first } = await stageOne();
  await addIncident(stage, 'stranger');
  await look(stage, 100);
  return order(stage)[1] === first ? [] : ['the label of an account that is not named counted'];
}

/** An incident conflicts with the base and with what is in flight, while many others wait. */
async function incidentInConflict(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { ...PEOPLE, bisectFanout: 4 } });
  const { forge } = stage;
  const path = 'src/same.txt';
  await givenProject(forge, { [path]: 'old\n' });
  await givenScheduled(forge, 'before');
  await look(stage, 10);
  const incident = await givenScheduled(forge, 'fix', 'fix\n', { path });
  await forge.pushToBase({ [path]: 'new\n' });
  forge.gateDurationMs = 20 * MINUTE_MS;
  await givenScheduled(forge, 'ahead', 'ahead\n', { path });
  await look(stage, 2);
  for (let each = 0; each < MANY; each += 1) await givenScheduled(forge, `later${each}`);
  await forge.setLabel(incident, 'incident', true, 'oncall');
  await look(stage, 4);
  const words = await wordsOn(stage, incident);
  return words.startsWith('refused: conflicts with the base')
    ? []
    : [`a conflict with the base is told as: ${words}`];
}

export const PRIORITY_SCENES = {
  'an incident comes right after a batch was staged': incidentEarly,
  'an incident comes when a gate run is nearly over': incidentLate,
  'an incident comes while a slot is free': incidentBesideSlot,
  'a stranger puts the label of an incident on': incidentOfStranger,
  'an incident conflicts with the base and with what is in flight': incidentInConflict,
} satisfies Scenes;
