import { gitWorlds } from '../git-world.ts';
import { defineNameTests } from './names-in-the-way.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

defineNameTests(() => worlds.create());
