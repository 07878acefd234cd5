import { gitWorlds } from './git-world.ts';
import { definePassedByTests } from './passed-by.suite.ts';

jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

definePassedByTests((options) => worlds.create(options));
