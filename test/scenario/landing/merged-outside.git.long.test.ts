import { gitWorlds } from '../git-world.ts';
import { defineMergedOutsideTests } from './merged-outside.suite.ts';

jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

defineMergedOutsideTests((options) => worlds.create(options));
