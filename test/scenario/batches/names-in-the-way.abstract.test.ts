import { createWorld } from '../world.ts';
import { defineNameTests } from './names-in-the-way.suite.ts';

defineNameTests(createWorld);
