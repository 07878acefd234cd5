import { describeContractStates } from './contract-states.suite.ts';
import { gitWorlds } from './git-world.ts';

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

describeContractStates('forge on real git over HTTPS', worlds.create);
