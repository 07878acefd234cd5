import { gitWorlds } from '../git-world.ts';
import { describePipeline } from './pipeline.suite.ts';

// Git processes on a busy machine: the limit is there to end a hang, not to time anything.
jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

describePipeline('forge on real git over HTTPS', worlds.create);
