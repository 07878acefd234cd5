import { gitWorlds } from '../git-world.ts';
import { defineHalfMadeTests } from './half-made.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

defineHalfMadeTests((options) => worlds.create(options));
