import { codeOfEvent } from '#core/domain/pull-codes.ts';
import { CI_CONTEXTS } from '../fakes/abstract-forge/pipeline-statuses.ts';
import { givenProject, givenScheduled } from '../scenario/stories.ts';
import { STATUS_GATE } from '../scenario/world.ts';
import { look, setStage } from './scene-stage.ts';

const GATE_MS = 5 * 60_000;
const [BUILD] = CI_CONTEXTS;

/** The owner asks one more context while a batch is out: what the old gate passes must not land. */
export async function changeGateInFlight(): Promise<readonly string[]> {
  const stage = await setStage({
    switches: { ci: 'statuses' },
    repo: { ...STATUS_GATE, gateContexts: [BUILD] },
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = GATE_MS;
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 3);
  if (forge.runs().length === 0) return ['the scene did not come about'];
  await stage.settings({ gateContexts: [BUILD, 'ci/never-answers'] });
  await look(stage, 30);
  const problems = forge.isMerged(pr) ? ['a batch landed by a gate that is no longer asked'] : [];
  const told = (await stage.events()).filter(({ reason }) => reason === 'gate_changed');
  if (told.length === 0)
    problems.push('a batch that waits for another gate is not told to be out of the queue');
  const nameless = told.some(({ event, reason }) => codeOfEvent(event, reason) === null);
  return nameless ? [...problems, 'a change of the gate is told without a code'] : problems;
}
