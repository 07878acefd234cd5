import { MUTANTS } from './mutants.ts';
import { openScenes, playScene, type SceneThread } from './play-scene.ts';
import { LONG_SCENES, SCENE_NAMES } from './scenes.ts';

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
