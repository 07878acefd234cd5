import { createWorld } from '../world.ts';
import { defineSkipCiTests } from './skip-ci.suite.ts';

defineSkipCiTests(createWorld);
