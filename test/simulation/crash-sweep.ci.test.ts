import { createSeededRandom } from '../support/seeded-random.ts';
import { modesOf, playStory, struckCalls } from './crash-sweep.ts';
import { CRASH_STORIES } from './pipeline-stories.ts';

/** Of each story's hundreds of calls and five modes this many are drawn here; `npm run sim:crash` takes all of them. */
const BLOWS_PER_STORY = 1;

describe('a worker that dies, or a call that fails, changes nothing but time (A44)', () => {
  test.each(CRASH_STORIES.map((story, index) => [story.name, story, index] as const))(
    '%s',
    async (_name, story, index) => {
      const random = createSeededRandom(index + 1);
      const clean = await playStory(story, []);
      expect(clean.problems).toEqual([]);
      for (let count = 0; count < BLOWS_PER_STORY; count += 1) {
        const at = random.pick(struckCalls(story, clean.labels) as [number, ...number[]]);
        const label = clean.labels[at] ?? '';
        const modes = modesOf(label);
        const mode = modes[random.int(modes.length)] ?? 'crash before';
        const { problems } = await playStory(story, [{ at, mode }]);
        expect({ at, label, mode, problems }).toEqual({ at, label, mode, problems: [] });
      }
    },
    60_000,
  );
});
