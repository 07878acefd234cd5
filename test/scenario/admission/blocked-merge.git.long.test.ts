import { gitWorlds } from '../git-world.ts';
import { defineBlockedMergeTests } from './blocked-merge.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

defineBlockedMergeTests((options) => worlds.create(options), {
  reopensWithoutBranch: false,
  readsTeams: false,
});
