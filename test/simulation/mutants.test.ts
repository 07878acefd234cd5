import { readFileSync } from 'node:fs';
import { replaceOnce } from './bundle.ts';
import { MUTANTS } from './mutants.ts';
import { openScenes, playScene, type SceneThread } from './play-scene.ts';
import { LONG_SCENES, SCENE_NAMES } from './scenes.ts';

/** `npm run sim:mutants` shows that each is caught; here that each is still a change of what is delivered, and a few of them. */
test.each(MUTANTS.map((mutant) => [mutant.guard, mutant] as const))(
  'there is a guard: %s',
  (_guard, mutant) => {
    const text = readFileSync(mutant.file, 'utf8');
    expect(replaceOnce(text, mutant)).not.toBe(text);
  },
);

describe('nothing goes wrong when', () => {
  let scenes: SceneThread;
  beforeAll(async () => {
    scenes = await openScenes();
  });
  afterAll(() => scenes.close());

  test.each(SCENE_NAMES.filter((name) => !LONG_SCENES.includes(name)))('%s', async (name) => {
    expect(await scenes.play(name)).toEqual([]);
  });
});

test.each(['A4', 'E7', 'E14', 'E19', 'A39', 'D-03'])(
  'without its guard something goes wrong (%s)',
  async (name) => {
    const mutant = MUTANTS.find(({ guard, dies }) => guard.includes(name) && typeof dies === 'string');
    if (mutant === undefined || typeof mutant.dies !== 'string') throw new Error(`no guard ${name}`);
    expect(await playScene([mutant], mutant.dies)).not.toEqual([]);
  },
);
