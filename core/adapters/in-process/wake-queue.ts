import type { WakeMessage } from '../../contracts/internal/wake-message.ts';
import type { RepoId } from '../../domain/ids.ts';
import { WAKE_DELIVERIES_MAX } from '../../domain/limits.ts';
import { redeliverySeconds } from '../../domain/wakes/wake-rule.ts';
import type { Log, WakeQueue } from '../../ports/system.ts';

export interface InProcessWakesConfig {
  /** Answers one wake, as the worker does. What it throws is tried again soon. */
  readonly answer: (wake: WakeMessage) => Promise<void>;
  /** The end of a delayed wake. */
  readonly forward: (wake: WakeMessage) => Promise<void>;
  /** Wakes that are answered at once. */
  readonly workersMax: number;
  readonly log: Log;
}

export interface InProcessWakes extends WakeQueue {
  /** Repositories whose wakes wait or are answered at the moment. */
  readonly size: number;
  /** Takes no more wakes, and resolves when those under way have ended. */
  stop(): Promise<void>;
}

interface Group {
  /** The newest wake that waits; those before it are covered by it, because it begins after them. */
  waiting: WakeMessage | null;
  isRunning: boolean;
  /** Times that the wake of this repository has failed in a row. */
  failures: number;
}

/**
 * Wake queues in the memory of one process: one wake of a repository at a time, a limited number at once. A wake is a hint:
 * the due mark that was stored before it survives the process, and the tick finds it.
 */
export function createInProcessWakes(config: InProcessWakesConfig): InProcessWakes {
  const { log } = config;
  const groups = new Map<RepoId, Group>();
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  const later = (ms: number, act: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timers.add(timer);
  };
  const next = (): void => {
    for (const [repoId, group] of groups) {
      if (stopped || running.size >= config.workersMax) return;
      if (!group.isRunning && group.waiting !== null) begin(repoId, group, group.waiting);
    }
  };
  const begin = (repoId: RepoId, group: Group, wake: WakeMessage): void => {
    group.waiting = null;
    group.isRunning = true;
    // To the end of the line: a repository that is woken all the time has its next turn after all others.
    groups.delete(repoId);
    groups.set(repoId, group);
    const run = answer(group, wake).finally(() => {
      running.delete(run);
      group.isRunning = false;
      if (group.waiting === null && group.failures === 0) groups.delete(repoId);
      next();
    });
    running.add(run);
  };
  const answer = async (group: Group, wake: WakeMessage): Promise<void> => {
    try {
      await config.answer(wake);
      group.failures = 0;
    } catch (error) {
      group.failures += 1;
      log.error('a wake failed', { repo_id: wake.repoId, error });
      if (group.failures >= WAKE_DELIVERIES_MAX) {
        log.error('a wake failed for good; the next tick finds its repository', { repo_id: wake.repoId });
        group.failures = 0;
        return;
      }
      later(redeliverySeconds(group.failures) * 1000, () => add(wake));
    }
  };
  const add = (wake: WakeMessage): void => {
    if (stopped) return;
    const group = groups.get(wake.repoId) ?? { waiting: null, isRunning: false, failures: 0 };
    // A wake that waits or runs ends in a look, which plans glances of its own.
    if (wake.glance !== undefined && (group.waiting !== null || group.isRunning)) return;
    groups.set(wake.repoId, group);
    group.waiting = wake;
    next();
  };
  const delay = (wake: WakeMessage, delayMs: number): void => {
    later(Math.max(0, delayMs), () => {
      if (stopped) return;
      config.forward(wake).catch((error: unknown) => {
        // The due mark stands; the tick finds it.
        log.warn('a delayed wake could not be forwarded', { repo_id: wake.repoId, error });
      });
    });
  };
  return {
    get size() {
      return groups.size;
    },
    sendWake: async (repoId, wakeSeq) => add({ repoId, wakeSeq }),
    sendDelayedWake: async (repoId, wakeSeq, delayMs) => delay({ repoId, wakeSeq }, delayMs),
    sendGlance: async ({ repoId, wakeSeq, step }) => add({ repoId, wakeSeq, glance: step }),
    sendDelayedGlance: async ({ repoId, wakeSeq, step }, delayMs) =>
      delay({ repoId, wakeSeq, glance: step }, delayMs),
    stop: async () => {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(running);
    },
  };
}
