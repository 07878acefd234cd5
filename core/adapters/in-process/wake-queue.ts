import type { WakeMessage } from '../../contracts/internal/wake-message.ts';
import type { RepoId } from '../../domain/ids.ts';
import { WAKE_DELIVERIES_MAX } from '../../domain/limits.ts';
import { redeliverySeconds } from '../../domain/wakes/wake-rule.ts';
import type { Log, WakeQueue } from '../../ports/system.ts';

export interface InProcessWakesConfig {
  /** Answers one wake as the worker does. One for which it throws is tried again soon. */
  readonly answer: (wake: WakeMessage) => Promise<void>;
  /** Forwards a delayed wake once its delay is over. */
  readonly forward: (wake: WakeMessage) => Promise<void>;
  /** Wakes that are answered at the same time, and as many glances beside them. */
  readonly workersMax: number;
  readonly log: Log;
}

export interface InProcessWakes extends WakeQueue {
  /** Sends a wake of the tick, which no person and no event asked for; it waits behind the wakes of `sendWake`. */
  sendIdleWake(repoId: RepoId, wakeSeq: number): Promise<void>;
  /** Repositories whose wakes wait or are answered at the moment. */
  readonly size: number;
  /** Takes no more wakes, and resolves when those under way have ended. */
  stop(): Promise<void>;
}

type Line = 'asked' | 'idle' | 'glances';

interface Waiting {
  readonly wake: WakeMessage;
  readonly line: Line;
}

interface Group {
  /** The newest wake that waits; those before it are covered by it, because it begins after them. */
  waiting: Waiting | null;
  isRunning: boolean;
  /** Times that the wake of this repository has failed in a row. */
  failures: number;
}

/**
 * Wakes of `sendWake` that are answered in a row before an idle look that waits: without a limit, busy queues would
 * keep idle ones from their look.
 */
const ASKED_IN_A_ROW_MAX = 3;

/**
 * Wake queues in the memory of one process: one wake of a repository at a time, a limited number at once. What people,
 * webhooks and planned looks ask for stands in one line, idle looks in another behind it (decision 0306). A glance takes two calls at
 * most and waits for neither (decision 0316). A wake is a hint: the due mark that was stored before it survives the process, and
 * the tick finds it.
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
  const lines: Readonly<Record<Line, Set<RepoId>>> = {
    asked: new Set(),
    idle: new Set(),
    glances: new Set(),
  };
  const out = { looks: 0, glances: 0 };
  let askedInARow = 0;

  /**
   * Puts a wake into a line. A repository that waits keeps its place; it changes from the idle line to that of
   * `sendWake` once such a wake comes.
   */
  const join = (repoId: RepoId, group: Group, wake: WakeMessage, wanted: Line): void => {
    const line = group.waiting?.line === 'asked' ? 'asked' : wanted;
    if (group.waiting !== null && group.waiting.line !== line) lines[group.waiting.line].delete(repoId);
    group.waiting = { wake, line };
    lines[line].add(repoId);
  };
  const firstOf = (line: Line): RepoId | undefined => {
    for (const repoId of lines[line]) if (groups.get(repoId)?.isRunning === false) return repoId;
    return undefined;
  };
  const takeNext = (): RepoId | undefined => {
    const glance = out.glances < config.workersMax ? firstOf('glances') : undefined;
    if (glance !== undefined) return glance;
    if (out.looks >= config.workersMax) return undefined;
    const idle = firstOf('idle');
    if (idle !== undefined && askedInARow >= ASKED_IN_A_ROW_MAX) return idle;
    return firstOf('asked') ?? idle;
  };
  const next = (): void => {
    while (!stopped) {
      const repoId = takeNext();
      const group = repoId === undefined ? undefined : groups.get(repoId);
      if (repoId === undefined || group === undefined || group.waiting === null) return;
      begin(repoId, group, group.waiting);
    }
  };
  const begin = (repoId: RepoId, group: Group, taken: Waiting): void => {
    const kind = taken.line === 'glances' ? 'glances' : 'looks';
    lines[taken.line].delete(repoId);
    out[kind] += 1;
    if (kind === 'looks') askedInARow = taken.line === 'asked' ? askedInARow + 1 : 0;
    group.waiting = null;
    group.isRunning = true;
    const run = answer(group, taken).finally(() => {
      running.delete(run);
      out[kind] -= 1;
      group.isRunning = false;
      if (group.waiting === null && group.failures === 0) groups.delete(repoId);
      next();
    });
    running.add(run);
  };
  const answer = async (group: Group, { wake, line }: Waiting): Promise<void> => {
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
      later(redeliverySeconds(group.failures) * 1000, () => add(wake, line));
    }
  };
  const add = (wake: WakeMessage, line: Line): void => {
    if (stopped) return;
    const group = groups.get(wake.repoId) ?? { waiting: null, isRunning: false, failures: 0 };
    // A wake that waits or runs ends in a look, which plans glances of its own.
    if (wake.glance !== undefined && (group.waiting !== null || group.isRunning)) return;
    groups.set(wake.repoId, group);
    join(wake.repoId, group, wake, line);
    next();
  };
  /** The tick may have woken what is due now: the planned look is then no longer forwarded, and its wake stands in for it. */
  const hasten = ({ repoId, glance }: WakeMessage): void => {
    const group = groups.get(repoId);
    if (glance === undefined && group?.waiting != null) join(repoId, group, group.waiting.wake, 'asked');
  };
  const delay = (wake: WakeMessage, delayMs: number): void => {
    later(Math.max(0, delayMs), () => {
      if (stopped) return;
      hasten(wake);
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
    sendWake: async (repoId, wakeSeq) => add({ repoId, wakeSeq }, 'asked'),
    sendIdleWake: async (repoId, wakeSeq) => add({ repoId, wakeSeq }, 'idle'),
    sendDelayedWake: async (repoId, wakeSeq, delayMs) => delay({ repoId, wakeSeq }, delayMs),
    sendGlance: async ({ repoId, wakeSeq, step }) => add({ repoId, wakeSeq, glance: step }, 'glances'),
    sendDelayedGlance: async ({ repoId, wakeSeq, step }, delayMs) =>
      delay({ repoId, wakeSeq, glance: step }, delayMs),
    stop: async () => {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(running);
    },
  };
}
