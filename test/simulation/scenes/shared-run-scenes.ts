import { NO_HISTORY } from '../../../engine-container/src/queue/policy/rate.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../../scenario/stories.ts';
import type { WorldOptions } from '../../scenario/world.ts';
import { look, type Scenes, type Stage, setStage, teach } from '../scene-stage.ts';

/** Scenes about batches that share a gate run (decision 0259). */

const SHARED = 'shared.txt';
const PRIORITIES = { incidentLabels: ['incident'], priorityPeople: ['oncall'] } as const;

/** One that lands, one that conflicts with it, and what is behind. */
async function openConflict(options: WorldOptions, behind: { content?: string; path?: string } = {}) {
  const stage = await setStage(options);
  await givenProject(stage.forge, { [SHARED]: 'one\n' });
  const below = await givenScheduled(stage.forge, 'b', 'from b\n', { path: SHARED });
  await givenScheduled(stage.forge, 'c', 'from c\n', { path: SHARED });
  const { content, path } = behind;
  const above = await givenScheduled(stage.forge, 'd', content, path === undefined ? {} : { path });
  return { stage, below, above };
}

const areLanded = (stage: Stage, prs: readonly number[]): readonly string[] =>
  prs.filter((pr) => !stage.forge.isMerged(pr)).map((pr) => `#${pr} did not land`);

const runsAre = (stage: Stage, wanted: number): readonly string[] => {
  const runs = stage.forge.runs().length;
  return runs === wanted ? [] : [`${runs} gate runs instead of ${wanted}`];
};

/** One in the middle of a batch conflicts with it. */
async function conflictInTheMiddle(): Promise<readonly string[]> {
  const { stage, below, above } = await openConflict({ repo: { bisectFanout: 1 } });
  await look(stage, 20);
  return [...areLanded(stage, [below, above]), ...runsAre(stage, 1)];
}

/** The same among so many with eight slots, in a repository in which that many of 300 were bad: does a gate run speak for two batches? */
async function conflictBesideSlots(
  count: number,
  bounced: number,
  isShared: boolean,
): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 8 } });
  await teach(stage, { rate: { ...NO_HISTORY, landed: 300 - bounced, bounced } });
  await givenProject(stage.forge, { [SHARED]: 'one\n' });
  const prs = [await givenScheduled(stage.forge, 'b', 'from b\n', { path: SHARED })];
  await givenScheduled(stage.forge, 'c', 'from c\n', { path: SHARED });
  while (prs.length < count - 1) prs.push(await givenScheduled(stage.forge, `d${prs.length}`));
  let wasShared = false;
  for (let looks = 0; looks < 20; looks += 1) {
    await look(stage, 1);
    const { batches } = await stage.record();
    wasShared ||= batches.some(({ sharesRun }) => sharesRun === true);
  }
  const words = wasShared ? 'a gate run was shared' : 'no gate run was shared';
  return [...areLanded(stage, prs), ...(wasShared === isShared ? [] : [words])];
}

/** Nearly all are good. */
const conflictInManyGood = () => conflictBesideSlots(7, 0, true);
/** To few a gate run of their own is worth more than the one that is saved. */
const conflictInFewGood = () => conflictBesideSlots(6, 0, false);
/** A batch of seven, of the backlog: its gate run fails too often. */
const conflictInManyRisky = () => conflictBesideSlots(40, 15, false);

/** What stands on a batch that ended at a conflict fails. */
async function failOnTop(): Promise<readonly string[]> {
  const { stage, below } = await openConflict({ repo: { bisectFanout: 1 } }, { content: 'BAD\n' });
  await look(stage, 40);
  return areLanded(stage, [below]);
}

/** Two batches end at a conflict, and what stands on both fails: a slot is free for each of the two. */
async function failOnTwo(): Promise<readonly string[]> {
  const { stage, below } = await openConflict(
    { repo: { bisectFanout: 4 } },
    { path: 'second.txt', content: 'BAD\n' },
  );
  await givenScheduled(stage.forge, 'e', 'from e\n', { path: 'second.txt' });
  await givenScheduled(stage.forge, 'f');
  stage.forge.gateDurationMs = 10 * 60_000;
  await look(stage, 30);
  const out = stage.forge.runs().filter(({ state }) => state === 'running').length;
  await look(stage, 200);
  return [...(out === 2 ? [] : [`${out} gate runs are out instead of 2`]), ...areLanded(stage, [below])];
}

/** The forge does not build what would stand on it. */
async function buildNothingOnTop(): Promise<readonly string[]> {
  const { stage } = await openConflict({ repo: { bisectFanout: 1 } });
  let tries = 0;
  stage.forge.fault = ({ path, about }) => {
    if (!path.endsWith('diffpatch') || about?.includes('src/d') !== true) return null;
    if (stage.forge.runs().length === 0) tries += 1;
    return { status: 500 };
  };
  await look(stage, 40);
  if (stage.forge.runs().length === 0) return ['no gate run began'];
  return tries > 1 ? [`it waited for ${tries} attempts to build what comes on top`] : [];
}

/** What stands on it changes the gate, and passed before: its gate run says nothing about what is below. */
async function changeGateOnTop(): Promise<readonly string[]> {
  const changed = { content: GATE_FILE.replace('\n', '\n# changed\n'), path: GATE_PATH };
  const { stage, below, above } = await openConflict({ repo: { bisectFanout: 4 } }, changed);
  stage.forge.judge = () => 'hold';
  await look(stage, 3);
  const out = stage.forge.runs().length;
  const { batches } = await stage.record();
  const held = batches.flatMap(({ members }) => members.map(({ pr }) => pr));
  if (!held.includes(below) || !held.includes(above)) return ['they are not in flight'];
  return out === 2 ? [] : [`${out} gate runs are out instead of 2`];
}

/** An incident comes while the batch below is built. */
async function incidentOnTop(): Promise<readonly string[]> {
  let label: () => Promise<unknown> = async () => null;
  const hooked = wrapForge(async (name, _args, real) => {
    if (name === 'applyPatch') await label();
    return real();
  });
  const { stage, below, above } = await openConflict({
    repo: { ...PRIORITIES, bisectFanout: 4 },
    wrapForge: hooked,
  });
  label = () => stage.forge.setLabel(above, 'incident', true, 'oncall');
  await look(stage, 20);
  return [...areLanded(stage, [below, above]), ...runsAre(stage, 2)];
}

/** Another one is scheduled while the batch below is built, and lingers. */
async function lingerOnTop(): Promise<readonly string[]> {
  let schedule: () => Promise<unknown> = async () => null;
  const hooked = wrapForge(async (name, _args, real) => {
    if (name === 'applyPatch') await schedule();
    return real();
  });
  const { stage } = await openConflict({
    repo: { bisectFanout: 1, batchLingerSeconds: 120 },
    wrapForge: hooked,
  });
  let late = 0;
  schedule = async () => {
    schedule = async () => null;
    late = await givenScheduled(stage.forge, 'late');
  };
  stage.forge.judge = () => 'hold';
  await look(stage, 8);
  const { batches } = await stage.record();
  const held = batches.flatMap(({ members }) => members.map(({ pr }) => pr));
  if (late === 0 || batches.length !== 2) return [`${batches.length} batches instead of 2`];
  return held.includes(late) ? ['one that had not lingered was staged'] : [];
}

/** Each minute one more is scheduled, and each of them begins the wait of two minutes anew. */
async function trickle(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 1, batchLingerSeconds: 120 } });
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  for (let minute = 0; minute < 15; minute += 1) {
    await givenScheduled(stage.forge, `t${minute}`);
    await look(stage, 2);
  }
  return (await stage.record()).batches.length > 0 ? [] : ['nothing is staged while others keep coming'];
}

export const SHARED_RUN_SCENES = {
  'one in the middle of a batch conflicts with it': conflictInTheMiddle,
  'what stands on a batch that ended at a conflict fails': failOnTop,
  'two batches end at a conflict, and what stands on both fails': failOnTwo,
  'one of seven that are good as a rule conflicts, and slots are free': conflictInManyGood,
  'one of six that are good as a rule conflicts, and slots are free': conflictInFewGood,
  'one of seven that are often bad conflicts, and slots are free': conflictInManyRisky,
  'the forge does not build what comes on top of a batch': buildNothingOnTop,
  'what comes on top of a batch changes the gate': changeGateOnTop,
  'an incident comes while a batch that ends at a conflict is built': incidentOnTop,
  'one is scheduled while a batch that ends at a conflict is built': lingerOnTop,
  'one more is scheduled each minute, and they linger': trickle,
} satisfies Scenes;
