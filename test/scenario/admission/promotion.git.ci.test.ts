import { gitWorlds } from '../git-world.ts';
import { promotionSuite } from './promotion.suite.ts';

describe.each(['fj15', 'gt126'] as const)('a pull request from the base on %s, over git', (profile) => {
  const worlds = gitWorlds(profile);
  afterEach(() => worlds.closeAll());

  promotionSuite(async (mergeStyle) => {
    const world = await worlds.create({ repo: { mergeStyle } });
    world.forge.checkDelayMs = 100;
    return world;
  });
});
