import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes about those who stood behind suspects in a batch (decision 0286). */

const MINUTE_MS = 60_000;
const BATCH = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
const PRIORITIES = { incidentLabels: ['incident'], priorityPeople: ['oncall'] } as const;

interface Search {
  readonly stage: Stage;
  /** Those behind the suspects, back in the line. */
  readonly left: readonly number[];
  /** Looks on until the queue is at rest. */
  readonly finish: () => Promise<readonly string[]>;
}

/** A batch of which the second is bad; four have come back from its search, which goes on. */
async function openSearch(bisectFanout: number, names: readonly string[] = BATCH): Promise<Search> {
  const stage = await setStage({ repo: { bisectFanout, ...PRIORITIES } });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 10 * MINUTE_MS;
  const prs: number[] = [];
  for (const name of names)
    prs.push(await givenScheduled(stage.forge, name, name === 'b' ? 'BAD\n' : undefined));
  let left: readonly number[] = [];
  for (let looks = 0; looks < 100 && left.length < 4; looks += 1) {
    await look(stage, 1);
    left = await leftBehind(stage);
  }
  return {
    stage,
    left,
    finish: async () => {
      await look(stage, 300);
      const good = prs.filter((_, at) => names[at] !== 'b');
      return good.filter((pr) => !stage.forge.isMerged(pr)).map((pr) => `#${pr} did not land`);
    },
  };
}

/** Members of a batch of suspects that it speaks for no more. */
async function leftBehind(stage: Stage): Promise<readonly number[]> {
  const batch = (await stage.record()).batches.find(({ place }) => place === 'suspect');
  return batch?.members.slice(batch.limit).map(({ pr }) => pr) ?? [];
}

const runsOut = (stage: Stage): number =>
  stage.forge.runs().filter(({ state }) => state === 'running').length;

const areOut = (stage: Stage, wanted: number): readonly string[] => {
  const out = runsOut(stage);
  return out === wanted ? [] : [`${out} gate runs are out instead of ${wanted}`];
};

/** None else waits. */
async function leftBySearch(): Promise<readonly string[]> {
  const { stage, left, finish } = await openSearch(4);
  if (left.length !== 4) return [`${left.length} came back instead of 4`];
  const problems = [...areOut(stage, 1), ...(await finish())];
  // All, half, a quarter, one, the culprit again, and two for the six that are left: few outcomes are known.
  const runs = stage.forge.runs().length;
  return runs <= 7 ? problems : [...problems, `${runs} gate runs instead of 7`];
}

/** Another one comes. */
async function leftBesideAnother(): Promise<readonly string[]> {
  const { stage, finish } = await openSearch(4);
  await givenScheduled(stage.forge, 'late');
  await look(stage, 2);
  return [...areOut(stage, 2), ...(await finish())];
}

/** One of them is pushed to and scheduled again. */
async function leftAndPushed(): Promise<readonly string[]> {
  const { stage, left, finish } = await openSearch(4);
  const [pushed = 0] = left;
  await stage.forge.pushToPullRequest(pushed, { 'src/e.txt': null, 'src/other.txt': 'other\n' });
  await stage.forge.cancelSchedule(pushed);
  await stage.forge.schedule(pushed, 'squash');
  await look(stage, 2);
  return [...areOut(stage, 2), ...(await finish())];
}

/** One of them gets the label of an incident. */
async function leftAndUrgent(): Promise<readonly string[]> {
  const { stage, left, finish } = await openSearch(4);
  await stage.forge.setLabel(left[0] ?? 0, 'incident', true, 'oncall');
  await look(stage, 2);
  return [...areOut(stage, 2), ...(await finish())];
}

/** Several cuts are gated at once: all that came back is staged beside them. */
async function leftBySeveralCuts(): Promise<readonly string[]> {
  const { stage, left, finish } = await openSearch(6, BATCH.slice(0, 6));
  if (left.length !== 4) return [`${left.length} came back instead of 4`];
  await look(stage, 2);
  return [...areOut(stage, 2), ...(await finish())];
}

export const LEFT_BY_SEARCH_SCENES = {
  'none but those behind suspects waits': leftBySearch,
  'another one comes beside those behind suspects': leftBesideAnother,
  'one behind suspects is pushed to': leftAndPushed,
  'one behind suspects becomes an incident': leftAndUrgent,
  'those behind suspects wait, and several cuts are tried': leftBySeveralCuts,
} satisfies Scenes;
