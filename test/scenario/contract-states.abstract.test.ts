import { describeContractStates } from './contract-states.suite.ts';
import { createWorld } from './world.ts';

describeContractStates('abstract forge', createWorld);
