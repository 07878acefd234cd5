import { runStory, SWEEP_STORIES } from '../crash-sweep-stories.ts';
import { gitWorlds } from '../git-world.ts';
import { expectHonestEnd } from '../stories.ts';

// Git processes on a busy machine: the limit is there to end a hang, not to time anything.
jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

describe('the 25 scenarios, forge on real git over HTTPS', () => {
  test.each(SWEEP_STORIES.map((story) => [story.name, story] as const))('%s', async (_name, story) => {
    const world = await worlds.create(story.repo === undefined ? {} : { repo: story.repo });
    const ending = await runStory(world, story);
    if (story.landed === 'any order') expect([...ending.landed].sort()).toEqual(story.landedSet);
    else expect(ending.landed).toEqual(story.landed);
    expect(ending.bounced).toEqual(story.bounced);
    if (story.stops !== true) await expectHonestEnd(world, ending.prs);
  });
});
