import { defineSkipCiTests } from './skip-ci.suite.ts';
import { createWorld } from './world.ts';

defineSkipCiTests(createWorld);
