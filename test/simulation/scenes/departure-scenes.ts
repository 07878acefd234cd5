import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, openLostMerge, type Scenes, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes in which a pull request leaves the queue while its head has other words than those of the line. */

const DID_NOT_COME = ['the scene did not come about'];

/** The queue goes off with a success posted, and the schedules of its batch are cancelled; later it goes on again. */
async function cancelAfterOff(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')] as const;
  await stage.drain({ until: async () => (await wordOn(stage, prs[0])) === 'success' });
  await stage.settings({ queueEnabled: false });
  await look(stage, 1);
  if ((await wordsOn(stage, prs[1])) !== PULL_CODES.queue_disabled.says) return DID_NOT_COME;
  for (const pr of prs) await forge.cancelSchedule(pr);
  await look(stage, 4);
  await stage.settings({ queueEnabled: true, enabledAt: stage.clock.now() });
  await look(stage, 10);
  const words = await Promise.all(prs.map((pr) => wordsOn(stage, pr)));
  return words
    .filter((each) => each !== PULL_CODES.cancelled_while_off.says)
    .map((each) => `one whose schedule went with the queue is told "${each}"`);
}

/** The one that lands is sent to another branch. */
async function retargetInLanding(): Promise<readonly string[]> {
  const opened = await openLostMerge();
  if (opened === null) return DID_NOT_COME;
  const { stage, pr } = opened;
  await stage.forge.pushBranch('next', await stage.forge.tip(stage.forge.base));
  await stage.forge.retarget(pr, 'next');
  await look(stage, 10);
  const words = await wordsOn(stage, pr);
  return words === PULL_CODES.retargeted.says ? [] : [`one that has another target is told "${words}"`];
}

/** An administrator merges one of a batch past the queue while its gate runs. */
async function mergeOneOfBatch(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')] as const;
  await look(stage, 2);
  if (!(await wordsOn(stage, prs[1])).startsWith('staged')) return DID_NOT_COME;
  await forge.mergeByHand(prs[1]);
  forge.judge = () => 'success';
  await look(stage, 20);
  const words = await wordsOn(stage, prs[1]);
  const problems =
    words === PULL_CODES.merged_outside_the_queue.says ? [] : [`one that is merged is told "${words}"`];
  return forge.isMerged(prs[0]) ? problems : [...problems, 'the other one of its batch did not land'];
}

export const DEPARTURE_SCENES = {
  'a queue goes off, the schedules of its batch are cancelled, and it goes on': cancelAfterOff,
  'one is sent to another branch while it lands': retargetInLanding,
  'one of a batch is merged past the queue': mergeOneOfBatch,
} satisfies Scenes;
