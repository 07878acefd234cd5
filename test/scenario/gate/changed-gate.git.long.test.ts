import { gitWorlds } from '../git-world.ts';
import { defineChangedGateTests } from './changed-gate.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

defineChangedGateTests((options) => worlds.create(options));
