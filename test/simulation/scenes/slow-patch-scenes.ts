import { FORGE_TIMEOUT_MS } from '#core/domain/limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { type Scenes, type Stage, setStage } from '../scene-stage.ts';
import { lookUntil } from './bad-head-scenes.ts';

/** Scenes about decision 0352: the forge checks a large repository out for each patch. */

const MINUTE_MS = 60_000;
/** The checkout goes on after the call was given up, and its commit comes. */
const LATE_MS = 15_000;

async function setSlowStage(): Promise<Stage> {
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, _values, answer) => {
      if (name !== 'applyPatch') return answer();
      stage.clock.after(LATE_MS, () => void answer().catch(() => undefined));
      await stage.clock.advance(FORGE_TIMEOUT_MS);
      throw new ForgeError('unreachable', name, null, null, true);
    }),
  });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 3_000;
  return stage;
}

/** New files, which need no patch. */
async function landWithoutPatches(): Promise<readonly string[]> {
  const stage = await setSlowStage();
  const { forge } = stage;
  const pulls = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  const hasLanded = () => pulls.every((pr) => forge.isMerged(pr));
  if (!(await lookUntil(stage, 5 * MINUTE_MS, hasLanded))) return ['nothing lands where each patch is slow'];
  return (await unprovenLandings(forge)).map(() => 'a landing is not proven');
}

export const SLOW_PATCH_SCENES = {
  'each patch outlasts the time of a call': landWithoutPatches,
} satisfies Scenes;
