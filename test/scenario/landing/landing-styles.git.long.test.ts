import { gitWorlds } from '../git-world.ts';
import { describeLandingStyles } from './landing-styles.suite.ts';

// Git processes on a busy machine: the limit is there to end a hang, not to time anything.
jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

describeLandingStyles('forge on real git over HTTPS', worlds.create);
