import { createWorld } from '../world.ts';
import { describePipeline } from './pipeline.suite.ts';

describePipeline('abstract forge', createWorld);
