import { describeContractStates } from './contract-states.suite.ts';
import { cleanups, createWorld } from './zz-world.ts';

jest.setTimeout(60000);
afterEach(async () => {
  for (const c of cleanups.splice(0)) await c();
});
describeContractStates('real git', createWorld as never);
