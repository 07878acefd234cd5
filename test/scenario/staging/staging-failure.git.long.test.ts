import { gitWorlds } from '../git-world.ts';
import { defineStagingFailureTests } from './staging-failure.suite.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

defineStagingFailureTests((options) => worlds.create(options));
