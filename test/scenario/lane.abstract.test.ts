import { describeLane } from './lane.suite.ts';
import { createWorld } from './world.ts';

describeLane('abstract forge', createWorld);
