import { definePassedByTests } from './passed-by.suite.ts';
import { createWorld } from './world.ts';

definePassedByTests((options) => createWorld(options));
