import { defineChangedGateTests } from './changed-gate.suite.ts';
import { createWorld } from './world.ts';

defineChangedGateTests(createWorld);
