import { gitWorlds } from '../git-world.ts';
import { defineForgeConflictTests } from './forge-conflict.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

describe.each(['mode', 'rename'] as const)('a changed %s', (kind) => {
  defineForgeConflictTests(kind, () => worlds.create());
});
