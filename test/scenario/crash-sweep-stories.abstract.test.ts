import { runStory, SWEEP_STORIES } from './crash-sweep-stories.ts';
import { expectHonestEnd } from './stories.ts';
import { createWorld } from './world.ts';

const GATES = [
  ['gate by a workflow', {}],
  ['gate by statuses', { gate: 'statuses' }],
] as const;

describe.each(GATES)('the 25 scenarios, abstract forge, %s', (_gate, options) => {
  test.each(SWEEP_STORIES.map((story) => [story.name, story] as const))('%s', async (_name, story) => {
    const world = await createWorld({
      ...options,
      ...(story.repo === undefined ? {} : { repo: story.repo }),
    });
    const ending = await runStory(world, story);
    if (story.landed === 'any order') expect([...ending.landed].sort()).toEqual(story.landedSet);
    else expect(ending.landed).toEqual(story.landed);
    expect(ending.bounced).toEqual(story.bounced);
    if (story.stops !== true) await expectHonestEnd(world, ending.prs);
  });
});
