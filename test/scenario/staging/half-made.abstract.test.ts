import { createWorld } from '../world.ts';
import { defineHalfMadeTests } from './half-made.suite.ts';

defineHalfMadeTests(createWorld);
