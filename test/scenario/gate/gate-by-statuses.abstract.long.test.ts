import { SWEEP_STORIES } from '../crash-sweep-stories.ts';
import { playStory } from '../play-story.ts';

describe('the 25 scenarios, abstract forge, gate by statuses', () => {
  test.each(SWEEP_STORIES.map((story) => [story.name, story] as const))('%s', (_name, story) =>
    playStory(story, { gate: 'statuses' }),
  );
});
