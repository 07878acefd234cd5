import { gitWorlds } from '../git-world.ts';
import { defineMergeTests } from './merges.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

describe('merges on the forge over real git', () => {
  defineMergeTests((options) => worlds.create(options), true);
});
