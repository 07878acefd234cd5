import { gitWorlds } from '../git-world.ts';
import { describeContractStates } from './contract-states.suite.ts';

// Git processes on a busy machine: the limit is there to end a hang, not to time anything.
jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

describeContractStates('forge on real git over HTTPS', worlds.create);
