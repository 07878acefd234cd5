import { runStory, type SWEEP_STORIES } from './crash-sweep-stories.ts';
import { expectHonestEnd } from './stories.ts';
import { createWorld } from './world.ts';

/** One story from its begin to its end, which is the one that it names. `options`: of the world that it is played in. */
export async function playStory(
  story: (typeof SWEEP_STORIES)[number],
  options: Parameters<typeof createWorld>[0],
): Promise<void> {
  const world = await createWorld({ ...options, ...(story.repo === undefined ? {} : { repo: story.repo }) });
  const ending = await runStory(world, story);
  if (story.landed === 'any order') expect([...ending.landed].sort()).toEqual(story.landedSet);
  else expect(ending.landed).toEqual(story.landed);
  expect(ending.bounced).toEqual(story.bounced);
  if (story.stops !== true) await expectHonestEnd(world, ending.prs);
}
