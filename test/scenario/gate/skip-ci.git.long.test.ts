import { gitWorlds } from '../git-world.ts';
import { defineSkipCiTests } from './skip-ci.suite.ts';

jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

defineSkipCiTests((options) => worlds.create(options));
