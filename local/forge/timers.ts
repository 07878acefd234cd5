/** Time as the forge needs it. The same shape as the virtual clock of the tests. */
export interface Timers {
  /** Epoch ms. */
  now(): number;
  after(ms: number, run: () => void | Promise<void>): void;
}

/** Wall time. Timers do not keep the process alive. */
export function createRealTimers(): Timers {
  return {
    now: () => Date.now(),
    after: (ms, run) => {
      setTimeout(() => void run(), ms).unref();
    },
  };
}
