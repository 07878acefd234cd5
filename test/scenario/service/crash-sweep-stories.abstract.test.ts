import { SWEEP_STORIES } from '../crash-sweep-stories.ts';
import { playStory } from '../play-story.ts';

/** The same under a gate by statuses: `gate-by-statuses.abstract.long.test.ts`. */
describe('the 25 scenarios, abstract forge', () => {
  test.each(SWEEP_STORIES.map((story) => [story.name, story] as const))('%s', (_name, story) =>
    playStory(story, {}),
  );
});
