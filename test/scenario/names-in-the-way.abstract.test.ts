import { defineNameTests } from './names-in-the-way.suite.ts';
import { createWorld } from './world.ts';

defineNameTests(createWorld);
