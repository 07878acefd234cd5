import { GATE_RETRY_BACKOFF_MS } from '#core/domain/limits.ts';
import type { GateRunView } from '../../../local/forge/control.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

const BATCH = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
/** The search cuts such a batch behind its second and behind its fourth. */
const BISECT_FANOUT = 6;
const LOOKS_MAX = 100;

/** The unfinished gate run of this many of the batch. */
function runOf({ forge }: Stage, size: number): GateRunView | undefined {
  const filesOf = ({ tree }: GateRunView) => [...forge.readTreeFiles(tree).keys()];
  const isOf = (run: GateRunView) => filesOf(run).filter((path) => path.startsWith('src/')).length === size;
  return forge.runs().find((run) => run.state === 'running' && isOf(run));
}

/** Looks until there is a gate run of this many, and ends it. */
async function endRun(stage: Stage, size: number, state: 'failure' | 'error'): Promise<boolean> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const run = runOf(stage, size);
    if (run !== undefined) {
      await stage.forge.finishRun(run.id, state);
      return true;
    }
    await look(stage, 1);
  }
  return false;
}

/** The first of a batch lands slowly, as the gate run of those behind it breaks off for the last time. */
async function breakOffAmidLanding(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: BISECT_FANOUT } });
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const prs: number[] = [];
  for (const name of BATCH) prs.push(await givenScheduled(forge, name));
  const [first = 0, second = 0] = prs;
  await endRun(stage, BATCH.length, 'failure');
  for (const _backoff of GATE_RETRY_BACKOFF_MS) await endRun(stage, 4, 'error');
  for (let looks = 0; looks < LOOKS_MAX && runOf(stage, 4) === undefined; looks += 1) await look(stage, 1);
  const passing = runOf(stage, 2);
  if (passing === undefined) return ['the scene did not come about'];
  await forge.finishRun(passing.id, 'success');
  await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
  const isLast = await endRun(stage, 4, 'error');
  await look(stage, 2);
  if (!isLast || forge.isMerged(first)) return ['the scene did not come about'];
  if ((await wordOn(stage, first)) !== 'success')
    return ['a gate run that is broken off takes back the success of another one of its batch'];
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 20);
  const unlanded = [first, second].filter((pr) => !forge.isMerged(pr));
  const { batches } = await stage.record();
  if (batches.some(({ nodes }) => nodes.some(({ faults }) => faults > 0)))
    return ['a batch whose gate run broke off for the last time goes on'];
  return unlanded.map((pr) => `#${pr} was proven and did not land`);
}

export const BROKEN_OFF_SCENES = {
  'a gate run is broken off amid a landing of its batch': breakOffAmidLanding,
} satisfies Scenes;
