import { createWorld } from '../world.ts';
import { defineMergeTests } from './merges.suite.ts';

describe('merges on the abstract forge', () => {
  defineMergeTests((options) => createWorld(options), false);
});
