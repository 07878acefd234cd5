import type { ModelQueue } from '../world.ts';
import { BatchAndBisect } from './batch-and-bisect.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { OptimisticPipeline } from './optimistic-pipeline.ts';
import { SpeculativeBisect } from './speculative-bisect.ts';
import { Train } from './train.ts';

const SPECULATIVE_WIDTH = 4;
const TRAIN_WIDTHS = [5, 20] as const;

/** The other queues: a new one for each play. */
export const PEERS: readonly (() => ModelQueue)[] = [
  () => new OneAtATime(),
  () => new BatchAndBisect(),
  () => new OptimisticPipeline(),
  ...TRAIN_WIDTHS.map((width) => () => new Train(width)),
  () => new SpeculativeBisect(SPECULATIVE_WIDTH),
];
