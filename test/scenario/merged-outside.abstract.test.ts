import { defineMergedOutsideTests } from './merged-outside.suite.ts';
import { createWorld } from './world.ts';

defineMergedOutsideTests((options) => createWorld(options));
