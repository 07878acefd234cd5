import { BOT } from '../../../local/forge/fake-forge.ts';
import { gitWorlds } from '../git-world.ts';
import { defineHiddenRuleTests } from './hidden-rule.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

defineHiddenRuleTests(async () => {
  const world = await worlds.create();
  await world.forge.setAccess(BOT, 'write');
  return world;
});
