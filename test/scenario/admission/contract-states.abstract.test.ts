import { createWorld, STATUS_GATE } from '../world.ts';
import { describeContractStates } from './contract-states.suite.ts';

describeContractStates('abstract forge', createWorld);
describeContractStates(
  'abstract forge, gate by statuses',
  (options) => createWorld({ ...options, gate: 'statuses' }),
  {
    remove: (world) => world.settings({ gateContexts: [] }),
    // The base moves: it is looked at again at once.
    restore: async (world) => {
      await world.settings(STATUS_GATE);
      await world.forge.pushToBase({ 'README.md': 'a gate again\n' });
    },
  },
);
