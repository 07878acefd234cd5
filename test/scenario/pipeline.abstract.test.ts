import { describePipeline } from './pipeline.suite.ts';
import { createWorld } from './world.ts';

describePipeline('abstract forge', createWorld);
