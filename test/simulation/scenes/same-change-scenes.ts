import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { hasAlarm, look, type Scenes, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes of a landing inside a batch, which is seen by its tree alone: another pull request can make the same tree. */

/**
 * The first of a batch waits for its merge. A foreign account opens that of another one with the same change.
 *
 * @param afterMs - when, from the look at all of a reconcile: 0 is before that look, which sees the merge with the base that it made
 */
async function mergeSameChange(afterMs: number): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a');
  const second = await givenScheduled(forge, 'b');
  const same = await givenScheduled(forge, 'same', 'a\n', { path: 'src/a.txt' });
  let isSlow = true;
  forge.mergeBehaviour = (pr) =>
    pr === first || (pr === second && isSlow) ? { kind: 'lost' } : { kind: 'now' };
  await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
  const { headSha } = await forge.pull(same);
  stage.clock.after(afterMs, () => forge.postStatusAs('mallory', headSha, DEFAULT_SERVICE_NAME, 'success'));
  if (afterMs === 0) await stage.clock.advance(2_000);
  await look(stage, 4);
  isSlow = false;
  await look(stage, 40);
  if (forge.isMerged(first) || !forge.isMerged(second) || !forge.isMerged(same))
    return ['the scene did not come about'];
  const told = (await stage.events()).filter(({ event }) => ['pr_landed', 'pr_skipped'].includes(event));
  const ends = told.map(({ event, pr, reason }) => `#${pr} ${event} ${reason}`).toSorted();
  const expected = [`#${second} pr_landed null`, `#${same} pr_skipped merged_outside_the_queue`];
  const problems = String(ends) === String(expected) ? [] : [`told: ${ends.join(', ')}`];
  const alarms = stage.log.filter(({ fields }) => fields.alarm === 'unverified_landing').length;
  if (alarms !== 1) problems.push(`a merge past the queue is alarmed ${alarms} times`);
  const rows = (await stage.rows()).flatMap(({ actions }) => actions);
  if (rows.some(({ pr, action }) => pr === first && action === 'landed'))
    problems.push('a row says that an open pull request landed');
  const words = await wordsOn(stage, first);
  return words.includes('changes nothing') ? problems : [...problems, `an open one is told "${words}"`];
}

/**
 * For so long after each merge neither the list nor the pull request itself says that it is merged.
 *
 * @param isPutBack - it is taken for one that was not merged meanwhile
 */
async function mergesAreCalledLate(lagMs: number, isPutBack = false): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a');
  const second = await givenScheduled(forge, 'b');
  forge.lags = { ...NO_LAGS, list: lagMs, pull: lagMs };
  await look(stage, 40);
  if (!forge.isMerged(first) || !forge.isMerged(second)) return ['the scene did not come about'];
  const passed = ['pr_queued', 'pr_staged', ...(isPutBack ? ['pr_requeued'] : [])];
  const told = (await stage.events()).filter(({ event }) => !passed.includes(event));
  const ends = told.map(({ event, pr }) => `#${pr} ${event}`).toSorted();
  const problems =
    String(ends) === String([`#${first} pr_landed`, `#${second} pr_landed`])
      ? []
      : [`told: ${ends.join(', ')}`];
  return hasAlarm(stage, 'unverified_landing') ? [...problems, 'a landing is alarmed'] : problems;
}

export const SAME_CHANGE_SCENES = {
  'another one with the same change is merged past the queue': () => mergeSameChange(0),
  'another one with the same change is merged between two looks at all': () => mergeSameChange(5_000),
  'a merge is called one late': () => mergesAreCalledLate(30_000),
  'a merge is called one after more than a minute': () => mergesAreCalledLate(90_000, true),
} satisfies Scenes;
