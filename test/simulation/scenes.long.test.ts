import { LONG_SCENES, SCENES } from './scenes.ts';

test.each(LONG_SCENES)('nothing goes wrong when %s', async (name) => {
  expect(await SCENES[name]()).toEqual([]);
});
