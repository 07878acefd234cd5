import { createWorld } from '../world.ts';
import { defineBlockedMergeTests } from './blocked-merge.suite.ts';

defineBlockedMergeTests(createWorld);
