import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../ports/system.ts';

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: async (ms) => {
      await wait(Math.max(0, ms));
    },
  };
}
