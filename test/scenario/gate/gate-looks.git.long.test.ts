import { gitWorlds } from '../git-world.ts';
import { defineGateLookTests, LONG_GATE_MS } from './gate-looks.suite.ts';

jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

defineGateLookTests((options) => worlds.create(options, { gateDurationMs: LONG_GATE_MS }));
