import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { dailyWindow, nextMinute } from '../../support/freeze-windows.ts';
import { isSuccess, look, type Scenes, type Stage, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes about freeze windows (decision 0208). */

const MINUTE_MS = 60_000;
const EXEMPTS = { freezeExemptLabels: ['urgent'], priorityPeople: ['oncall'] } as const;

async function givenStage(options: Parameters<typeof setStage>[0] = {}): Promise<Stage> {
  const stage = await setStage({ ...options, repo: EXEMPTS });
  await givenProject(stage.forge);
  return stage;
}

/** From the next full minute on. */
async function freeze(stage: Stage, forMs: number): Promise<void> {
  const since = nextMinute(stage.clock.now());
  await stage.settings({ freezeWindows: [dailyWindow(since, since + forMs)] });
  await stage.clock.advance(since - stage.clock.now());
}

async function addLabelled(stage: Stage, name: string, by: string): Promise<number> {
  const pr = await givenScheduled(stage.forge, name);
  await stage.forge.setLabel(pr, 'urgent', true, by);
  return pr;
}

/** Labels of a named account and of a stranger in a window, which ends. */
async function freezeWithLabels(): Promise<readonly string[]> {
  const stage = await givenStage();
  await freeze(stage, 20 * MINUTE_MS);
  const waiting = await addLabelled(stage, 'a', 'stranger');
  const exempt = await addLabelled(stage, 'b', 'oncall');
  await look(stage, 20);
  const problems: string[] = [];
  if (!stage.forge.isMerged(exempt))
    problems.push('one that is exempt waited for the end of a freeze window');
  if (stage.forge.isMerged(waiting)) problems.push('one that is not exempt landed in a freeze window');
  if (!(await wordsOn(stage, waiting)).startsWith('paused: ')) problems.push('a freeze window is not told');
  await look(stage, 40);
  return stage.forge.isMerged(waiting) ? problems : [...problems, 'a freeze window did not end'];
}

/** A window begins while a success stands and its merge does not come. */
async function freezeInLanding(): Promise<readonly string[]> {
  let isPosted = false;
  const stage = await givenStage({
    onEntry: (entry) => {
      isPosted ||= isSuccess(entry);
    },
  });
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(stage.forge, 'a');
  for (let count = 0; count < 10 && !isPosted; count += 1) await look(stage, 1);
  if (!isPosted) return ['the scene did not come about'];
  await freeze(stage, 60 * MINUTE_MS);
  await look(stage, 8);
  return (await wordOn(stage, pr)) === 'success' ? ['a success stands on a head in a freeze window'] : [];
}

/** The owner pauses in a window. */
async function pauseWithLabel(): Promise<readonly string[]> {
  const stage = await givenStage();
  await freeze(stage, 60 * MINUTE_MS);
  const since = stage.clock.now();
  await stage.settings({ pause: { kind: 'pause', reason: null, since, until: null } });
  const pr = await addLabelled(stage, 'a', 'oncall');
  await look(stage, 20);
  return stage.forge.isMerged(pr) ? ['an exempt one landed in a pause of the owner'] : [];
}

/** The owner drains in a window, in which an exempt one comes. */
async function drainAndFreeze(): Promise<readonly string[]> {
  const stage = await givenStage();
  await freeze(stage, 60 * MINUTE_MS);
  const since = stage.clock.now();
  await stage.settings({ pause: { kind: 'drain', reason: null, since, until: null } });
  const pr = await addLabelled(stage, 'a', 'oncall');
  const other = await addLabelled(stage, 'b', 'stranger');
  await look(stage, 20);
  const problems = stage.forge.isMerged(pr) ? ['something new landed in a drain'] : [];
  if (!(await wordsOn(stage, pr)).includes('by the owner'))
    problems.push('one that a drain holds up is told of a window that it is exempt from');
  if (!(await wordsOn(stage, other)).includes('freeze window'))
    problems.push('one that is not exempt is not told of the window');
  await stage.settings({ pause: null });
  await look(stage, 20);
  return stage.forge.isMerged(pr) ? problems : [...problems, 'a drain did not end'];
}

export const FREEZE_SCENES = {
  'a named account and a stranger exempt from a freeze window': freezeWithLabels,
  'a freeze window begins while a success stands': freezeInLanding,
  'a pause of one that is exempt from freeze windows': pauseWithLabel,
  'a drain in a freeze window': drainAndFreeze,
} satisfies Scenes;
