import { parentPort } from 'node:worker_threads';
import type { Order, Report } from './pool.ts';
import { simulate } from './simulate.ts';

/** A thread that lives the lives it is told to, one after the other. */
parentPort?.on('message', async (order: Order) => {
  const verdict = await simulate(order.seed, order.family, order.limits ?? {}, order.trace === true);
  parentPort?.postMessage({ order, verdict } satisfies Report);
});
