import { defineBlockedMergeTests } from './blocked-merge.suite.ts';
import { createWorld } from './world.ts';

defineBlockedMergeTests(createWorld);
