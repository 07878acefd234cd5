import { givenProject, givenScheduled } from '../scenario/stories.ts';
import { look, setStage } from './scene-stage.ts';

/** Scenes of `scenes.ts` about what merged: told once, and by its right name. */

const HOUR_MS = 60 * 60_000;

/** The base is pushed back below a landing of the queue, and restored: that landing is seen to join the base once more. */
export async function restoreBase(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const before = await stage.forge.tip('main');
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.drain();
  await stage.clock.advance(HOUR_MS);
  const after = await stage.forge.tip('main');
  await stage.forge.pushBranch('main', before);
  await look(stage, 6);
  await stage.forge.pushBranch('main', after);
  await look(stage, 6);
  const told = (await stage.events()).filter((event) => event.pr === pr);
  if (!told.some(({ event }) => event === 'pr_landed')) return ['the scene did not come about'];
  const problems = told
    .filter(({ reason }) => reason === 'merged_outside_the_queue')
    .map(() => 'a landing of the queue is told as a merge past it');
  const { rival } = await stage.record();
  return rival === undefined
    ? problems
    : [...problems, 'a landing of the queue is taken for that of another'];
}
