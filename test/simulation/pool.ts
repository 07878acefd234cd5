import { Worker } from 'node:worker_threads';
import type { Family } from './families.ts';
import type { Limits, Verdict } from './simulate.ts';

export interface Order {
  readonly seed: number;
  readonly family: Family;
  readonly limits?: Limits;
  readonly trace?: boolean;
}

export interface Report {
  readonly order: Order;
  readonly verdict: Verdict;
}

/** Orders under way per thread: enough that none waits for the next one. */
const AHEAD_MAX = 8;

/** Lives all orders on so many threads of one bundled program; `onReport` returns false to stop early. */
export async function runLives(
  program: string,
  orders: Iterator<Order>,
  jobs: number,
  onReport: (report: Report) => boolean,
): Promise<void> {
  let stopped = false;
  const threads = Array.from({ length: jobs }, () => new Worker(program, { eval: true }));
  const work = (thread: Worker): Promise<void> =>
    new Promise((resolve, reject) => {
      let waiting = 0;
      const give = (): void => {
        while (!stopped && waiting < AHEAD_MAX) {
          const next = orders.next();
          if (next.done === true) break;
          waiting += 1;
          thread.postMessage(next.value);
        }
        if (waiting === 0 || stopped) resolve();
      };
      thread.on('error', reject);
      thread.on('message', (report: Report) => {
        waiting -= 1;
        if (!stopped && !onReport(report)) stopped = true;
        give();
      });
      give();
    });
  try {
    await Promise.all(threads.map(work));
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}
