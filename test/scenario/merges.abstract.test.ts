import { defineMergeTests } from './merges.suite.ts';
import { createWorld } from './world.ts';

describe('merges on the abstract forge', () => {
  defineMergeTests((options) => createWorld(options), false);
});
