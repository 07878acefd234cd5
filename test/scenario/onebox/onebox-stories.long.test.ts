import { describeContractStates } from '../admission/contract-states.suite.ts';
import { runStory, SWEEP_STORIES } from '../crash-sweep-stories.ts';
import { oneboxWorlds } from '../onebox-world.ts';
import { expectHonestEnd } from '../stories.ts';

// Git and a database on a busy machine: the limit is there to end a hang, not to time anything.
jest.setTimeout(120_000);

const worlds = oneboxWorlds();
afterEach(() => worlds.closeAll());

describe('the 25 scenarios, one box', () => {
  test.each(SWEEP_STORIES.map((story) => [story.name, story] as const))('%s', async (_name, story) => {
    const world = await worlds.create(story.repo === undefined ? {} : { repo: story.repo });
    const ending = await runStory(world, story);
    if (story.landed === 'any order') expect([...ending.landed].sort()).toEqual(story.landedSet);
    else expect(ending.landed).toEqual(story.landed);
    expect(ending.bounced).toEqual(story.bounced);
    if (story.stops !== true) await expectHonestEnd(world, ending.prs);
  });
});

describeContractStates('one box', worlds.create);
