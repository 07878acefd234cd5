import { createWorld } from '../world.ts';
import { defineChangedGateTests } from './changed-gate.suite.ts';

defineChangedGateTests(createWorld);
