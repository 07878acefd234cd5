import {
  GLANCE_EVERY_MS,
  IDLE_DUE_DELAY_MS,
  TICK_INTERVAL_MS,
  WAKE_DELAY_MS_MIN,
} from '../../domain/limits.ts';
import type { ManagedRepo, ReconcileOutcome } from '../../domain/repos/repo.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Clock, Log, WakeQueue } from '../../ports/system.ts';
import { finishBurial, isOff, isWoundDown, type LastLook, type PurgeStore } from '../wind-down/wind-down.ts';
import { planGlance } from './answer-glance.ts';

export interface NextLookDeps {
  readonly store: Pick<DispatchStore, 'settleDue' | 'settleOff'> & PurgeStore;
  readonly queue: Pick<WakeQueue, 'sendDelayedWake' | 'sendDelayedGlance'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Ended extends LastLook {
  /** The engine may still be at work under this lease. */
  readonly leaveLease: boolean;
  /** Null: it saw nothing that a glance could compare. */
  readonly seen: ReconcileOutcome | null;
}

/** Due mark first, then the message. When the repo was woken meanwhile, that wake's own message is on its way. */
export async function planNextLook(deps: NextLookDeps, repo: ManagedRepo, ended: Ended): Promise<void> {
  const now = deps.clock.now();
  if (repo.tombstone) {
    // An engine that did not answer may still be at work: the next worker must wait for its lease.
    const burial = ended.leaveLease ? 'goes_on' : await finishBurial(deps.store, repo, ended, now);
    if (burial === 'left') {
      deps.log.warn('a deleted repository may have left statuses on its forge', {
        tenant_id: repo.tenantId,
        repo_id: repo.id,
        error_code: ended.errorCode,
      });
    }
    if (burial !== 'goes_on') return;
  } else if (isOff(repo) && isWoundDown(repo, ended, now)) {
    await deps.store.settleOff(repo, repo.wakeSeq);
    return;
  }
  // Whatever the engine waits for longer than a tick: meanwhile the tick finds what no event announced (A46).
  const lookAt = ended.wakeAt === null || ended.wakeAt > now + TICK_INTERVAL_MS ? null : ended.wakeAt;
  const settled = await deps.store.settleDue(repo.id, repo.wakeSeq, lookAt ?? now + IDLE_DUE_DELAY_MS);
  if (!settled) return;
  if (lookAt === null) {
    await planFirstGlance(deps, repo, ended);
    return;
  }
  const delayMs = Math.max(WAKE_DELAY_MS_MIN, lookAt - now);
  try {
    await deps.queue.sendDelayedWake(repo.id, repo.wakeSeq, delayMs);
  } catch (error) {
    // The wake that led here comes back within seconds, and must find the repo due.
    await deps.store.settleDue(repo.id, repo.wakeSeq, now);
    throw error;
  }
  // The look itself comes first, or at the same time. It replaces what is planned for after it.
  if (delayMs > GLANCE_EVERY_MS) await planFirstGlance(deps, repo, ended);
}

/** A repo that is off gets no glance. */
async function planFirstGlance(
  deps: NextLookDeps,
  repo: ManagedRepo,
  { seen }: Pick<Ended, 'seen'>,
): Promise<void> {
  if (!isOff(repo) && seen !== null) await planGlance(deps, repo, { outcome: seen, step: 1, tookMs: 0 });
}
