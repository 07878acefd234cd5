import { giveUpFirst } from '../../scenario/late-call.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, setStage, wordsOn } from '../scene-stage.ts';
import { passTicks } from './word-scenes.ts';

/** Scenes about the words on the heads of those who leave the queue, and who come back. */

const MINUTE_MS = 60_000;

/** Each way out that leaves a pull request open, a queue that is switched off and on, and the way back. */
async function tellWhoLeaves(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 1 } });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 60 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a');
  const told: string[] = [];
  const see = async (): Promise<void> => {
    await passTicks(stage, 10 * MINUTE_MS);
    told.push((await wordsOn(stage, pr)).split(':')[0] ?? '');
  };
  await see();
  await forge.cancelSchedule(pr);
  await see();
  await forge.schedule(pr, 'squash');
  await see();
  await forge.setTitle(pr, 'WIP: a');
  await see();
  await forge.setTitle(pr, 'a');
  await see();
  await stage.settings({ queueEnabled: false });
  await see();
  await stage.settings({ queueEnabled: true, enabledAt: stage.clock.now() });
  await see();
  await forge.close(pr);
  await see();
  const wanted = 'staged, not queued, staged, not queued, staged, not queued, staged, not queued';
  return told.join(', ') === wanted ? [] : [`its head said ${told.join(', ')}`];
}

/** The word that it is staged is carried out after the word that it left. */
async function stagedComesOverDeparture(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 60 * MINUTE_MS;
  forge.lateEffectMs = 12 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  const wasGivenUp = giveUpFirst(forge, (call) => call.path.endsWith(`/statuses/${headSha}`));
  await passTicks(stage, 5 * MINUTE_MS);
  await forge.cancelSchedule(pr);
  await passTicks(stage, 5 * MINUTE_MS);
  const between = await wordsOn(stage, pr);
  if (!wasGivenUp() || !between.startsWith('not queued:')) return ['the scene did not come about'];
  await passTicks(stage, 30 * MINUTE_MS);
  const words = await wordsOn(stage, pr);
  return words.startsWith('not queued:') ? [] : [`one that has left is told "${words}"`];
}

/** Cancelled while it lands: the last word does not say that it is tested again. */
async function leaveWhileLanding(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  // Beside so many the patrol comes by seldom.
  for (let index = 0; index < 25; index += 1)
    await forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordsOn(stage, pr)).startsWith('proven:') });
  await forge.cancelSchedule(pr);
  await look(stage, 3);
  if ((await forge.pull(pr)).merged) return ['the scene did not come about'];
  const words = await wordsOn(stage, pr);
  return words.startsWith('not queued:') ? [] : [`one that has left is told "${words}"`];
}

/** Two pull requests have one head: the first one leaves, then the second one, of which nothing was ever said. */
async function bothTwinsLeave(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 60 * MINUTE_MS;
  const first = await givenScheduled(forge, 'a');
  const twin = await forge.openPullRequest({ branch: 'twin', head: (await forge.pull(first)).headSha });
  await forge.schedule(twin, 'squash');
  await passTicks(stage, 5 * MINUTE_MS);
  await forge.close(first);
  await forge.close(twin);
  await passTicks(stage, 10 * MINUTE_MS);
  const words = await wordsOn(stage, twin);
  return words.startsWith('not queued:') ? [] : [`two that have left are told "${words}"`];
}

/** The word that it left is carried out after the one that it is back. */
async function departureComesOverReturn(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 10 * 60 * MINUTE_MS;
  forge.lateEffectMs = 12 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  await passTicks(stage, 5 * MINUTE_MS);
  await forge.cancelSchedule(pr);
  const wasGivenUp = giveUpFirst(forge, (call) => call.path.endsWith(`/statuses/${headSha}`));
  await passTicks(stage, 5 * MINUTE_MS);
  await forge.schedule(pr, 'squash');
  await passTicks(stage, 60 * MINUTE_MS);
  const words = await wordsOn(stage, pr);
  if (!wasGivenUp()) return ['the scene did not come about'];
  return words.startsWith('staged:') ? [] : [`one that is staged is told "${words}"`];
}

/** It leaves while the queue is off, which is switched on again. */
async function leaveWhileOff(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = 60 * MINUTE_MS;
  const pr = await givenScheduled(forge, 'a');
  await passTicks(stage, 5 * MINUTE_MS);
  await stage.settings({ queueEnabled: false });
  await passTicks(stage, 10 * MINUTE_MS);
  await forge.cancelSchedule(pr);
  await stage.settings({ queueEnabled: true, enabledAt: stage.clock.now() });
  await passTicks(stage, 30 * MINUTE_MS);
  const words = await wordsOn(stage, pr);
  return words.includes('auto-merge was cancelled') ? [] : [`one that has left is told "${words}"`];
}

export const LEAVING_SCENES = {
  'one leaves and comes back': tellWhoLeaves,
  'the word that one is staged comes after it left': stagedComesOverDeparture,
  'one leaves while it lands': leaveWhileLanding,
  'two with one head leave': bothTwinsLeave,
  'the word that one left comes after it is back': departureComesOverReturn,
  'one leaves while the queue is off': leaveWhileOff,
} satisfies Scenes;
