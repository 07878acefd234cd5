import { createWorld } from '../world.ts';
import { defineMergedOutsideTests } from './merged-outside.suite.ts';

defineMergedOutsideTests((options) => createWorld(options));
