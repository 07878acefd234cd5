import { setTimeout as wait } from 'node:timers/promises';
import type { SeenAnswer } from './judge.ts';

export interface PatienceOptions {
  /** @default the clock of this machine */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** Asks until the answer is one that can be judged. */
export interface Patience {
  ask(send: () => Promise<SeenAnswer>): Promise<SeenAnswer>;
  /** Requests that were sent again, so far. */
  readonly repeated: number;
}

const PAUSE_MS = 500;
/** The identity provider shares the process of the run: a machine that is too busy makes it late. */
const LATE_TRIES_MAX = 5;
/** The engine sleeps where no queue was switched on for a while; the health check wakes it (docs/operate.md: a minute). */
const ASLEEP_TRIES_MAX = 120;
/** The answer about the provider is kept for 15 seconds. */
const PROBED_TRIES_MAX = 40;
const SEND_TRIES_MAX = 3;

export function createPatience({ pause = wait }: PatienceOptions = {}): Patience {
  let repeated = 0;
  return {
    get repeated() {
      return repeated;
    },
    async ask(send) {
      let answer = await insist(send);
      for (let tries = 0; tries < triesFor(answer); tries += 1) {
        repeated += 1;
        await pause(PAUSE_MS);
        answer = await insist(send);
      }
      return answer;
    },
  };
}

/** How often an answer like this one is asked for again. What stays so is a fault. */
function triesFor({ status, text }: SeenAnswer): number {
  if (status !== 503) return 0;
  if (text.includes('"dependency":"container"')) return ASLEEP_TRIES_MAX;
  if (text.includes('"dependency":"gotrue"')) return PROBED_TRIES_MAX;
  return text.includes('"auth_unavailable"') ? LATE_TRIES_MAX : 0;
}

/** A kept connection that the server closed just then has carried nothing; only that is tried again. */
export async function insist(send: () => Promise<SeenAnswer>): Promise<SeenAnswer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await send();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (tried === SEND_TRIES_MAX || (code !== 'ECONNRESET' && code !== 'EPIPE')) throw error;
    }
  }
}
