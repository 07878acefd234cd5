import type { RepoId, TenantId } from '../../domain/ids.ts';
import {
  DUE_TOLERANCE_MS,
  IDLE_DUE_DELAY_MS,
  TICK_CONCURRENCY_MAX,
  TICK_INTERVAL_MS,
  TICK_REPOS_MAX,
  TICK_SENDS_MS,
} from '../../domain/limits.ts';
import { CLOCKS_DIFFER_MS_MAX } from '../../domain/wakes/clocks.ts';
import { eventWindow } from '../../domain/wakes/wake-rule.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Clock, Log, WakeQueue } from '../../ports/system.ts';
import { findReposOnHold, type OnHoldStore, type PlanDeps } from '../billing/plans.ts';
import { isOff, mustWindDown, type ObligationStore } from '../wind-down/wind-down.ts';

export interface WakeDeps {
  readonly store: Pick<DispatchStore, 'markDue'>;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
}

export interface EventWakeDeps extends WakeDeps {
  readonly store: Pick<DispatchStore, 'markDue' | 'claimDelivery'>;
  readonly queue: WakeQueue;
}

export interface ForwardDeps extends WakeDeps {
  readonly store: Pick<DispatchStore, 'markDue' | 'getRepo'>;
}

export interface TickDeps extends WakeDeps, PlanDeps {
  readonly store: Pick<DispatchStore, 'markDue' | 'listDueRepos' | 'recordTick' | 'getRepo' | 'settleDue'> &
    OnHoldStore &
    ObligationStore;
  readonly log: Log;
}

/** Records due, then enqueues: a failed send leaves the mark, and the next tick finds it. False: gone or disabled. */
export async function wakeNow(deps: WakeDeps, repoId: RepoId): Promise<boolean> {
  const wakeSeq = await deps.store.markDue(repoId, deps.clock.now());
  if (wakeSeq === null) return false;
  await deps.queue.sendWake(repoId, wakeSeq);
  return true;
}

/** Best effort, for a repo that is stored as due: if the wake cannot be sent, the tick finds the due time. */
export async function tryWake(deps: WakeDeps & { readonly log: Log }, repoId: RepoId): Promise<void> {
  try {
    await wakeNow(deps, repoId);
  } catch (error) {
    deps.log.warn('a repo that is due could not be woken', { repo_id: repoId, error });
  }
}

/** A delayed wake that is forwarded whatever happened since it was sent: events rely on it. */
export const UNCONDITIONAL_WAKE_SEQ = 0;

export type EventWake = 'woken' | 'planned' | 'covered' | 'gone';

/**
 * Wakes for an event, at most once per window and repo (E10). The first event of a window wakes at once. A later one may
 * come while that wake's reconcile has already read the forge, so it plans one more wake for the start of the next
 * window; all others of the window are covered by that one, because it begins after them.
 */
export async function wakeForEvent(deps: EventWakeDeps, repoId: RepoId): Promise<EventWake> {
  const now = deps.clock.now();
  const window = eventWindow(now);
  const claim = (index: number): Promise<boolean> => deps.store.claimDelivery(repoId, `wake-window:${index}`);
  if (await claim(window.index)) return (await wakeNow(deps, repoId)) ? 'woken' : 'gone';
  if (!(await claim(window.index + 1))) return 'covered';
  const wakeSeq = await deps.store.markDue(repoId, now);
  if (wakeSeq === null) return 'gone';
  await deps.queue.sendDelayedWake(repoId, UNCONDITIONAL_WAKE_SEQ, window.endsAt - now);
  return 'planned';
}

/**
 * The end of a delayed wake. A wake that was sent for an older `wakeSeq` is dropped: the wake that came since then caused
 * a reconcile of its own, which plans the next look itself. So chains of looks merge instead of multiplying.
 */
export async function forwardDelayedWake(
  deps: ForwardDeps,
  wake: { readonly repoId: RepoId; readonly wakeSeq: number },
): Promise<'forwarded' | 'replaced' | 'gone'> {
  const repo = await deps.store.getRepo(wake.repoId);
  if (repo === null) return 'gone';
  if (isOff(repo) && repo.dueAt === null) {
    if (repo.tombstone) return 'gone';
    // Nothing is due any more, so there is no mark to count: the queue drops what it had within minutes under one number.
    await deps.queue.sendWake(wake.repoId, eventWindow(deps.clock.now()).index);
    return 'forwarded';
  }
  if (wake.wakeSeq !== UNCONDITIONAL_WAKE_SEQ && repo.wakeSeq !== wake.wakeSeq) return 'replaced';
  return (await wakeNow(deps, wake.repoId)) ? 'forwarded' : 'gone';
}

/** Further ahead than a clock is ever set wrong. */
const FAR_MS = 100 * 365 * 86_400_000;

export interface ResumeDeps extends WakeDeps {
  readonly store: Pick<DispatchStore, 'listDueRepos' | 'getRepo' | 'markDue'>;
  readonly queue: Pick<WakeQueue, 'sendWake' | 'sendDelayedWake'>;
  readonly log: Log;
}

/**
 * For a start that lost the delayed messages of before: each look that was to come before the next tick is planned again, and
 * plans what follows it, glances included. What is due already is the tick's. One that is due later than any look is planned was
 * planned by a clock that has been set back since: it comes at once. Returns how many were planned.
 */
export async function resumeWaits(deps: ResumeDeps): Promise<number> {
  const { store, queue, clock, log } = deps;
  const now = clock.now();
  let planned = 0;
  for (const repoId of await store.listDueRepos(now + FAR_MS, TICK_REPOS_MAX)) {
    try {
      const repo = await store.getRepo(repoId);
      if (repo === null || repo.dueAt === null || repo.dueAt <= now + DUE_TOLERANCE_MS) continue;
      const inMs = repo.dueAt - now;
      if (inMs <= TICK_INTERVAL_MS) await queue.sendDelayedWake(repoId, repo.wakeSeq, inMs);
      else if (inMs <= TICK_INTERVAL_MS + CLOCKS_DIFFER_MS_MAX) continue;
      else {
        log.warn('a look was planned by a clock that has been set back', { repo_id: repoId });
        await wakeNow(deps, repoId);
      }
      planned += 1;
    } catch (error) {
      log.warn('a look could not be planned again', { repo_id: repoId, error });
    }
  }
  return planned;
}

export interface TickResult {
  readonly due: number;
  readonly woken: number;
  /** Not woken, because their tenant's subscription does not entitle (A107). */
  readonly held: number;
  readonly failed: number;
  /** Still due: the tick had no time left for them. */
  readonly left: number;
}

/** Wakes every due repo, oldest due first, whatever its wake mode (A60). A repo that fails keeps no other waiting (A49). */
export async function wakeDueRepos(deps: TickDeps): Promise<TickResult> {
  const startedAt = deps.clock.now();
  const due = await deps.store.listDueRepos(startedAt + DUE_TOLERANCE_MS, TICK_REPOS_MAX);
  let woken = 0;
  let held = 0;
  let failed = 0;
  const isHeld = createHoldCheck(deps);
  const waiting = due.values();
  let taken = 0;
  const sendNext = async (): Promise<void> => {
    for (const repoId of waiting) {
      if (deps.clock.now() - startedAt >= TICK_SENDS_MS) return;
      taken += 1;
      try {
        if (await isHeld(repoId)) held += 1;
        else if (await wakeNow(deps, repoId)) woken += 1;
      } catch (error) {
        failed += 1;
        deps.log.error('a due repo could not be woken', { repo_id: repoId, error });
      }
    }
  };
  // All take from one iterator, so the order of the list is the order of sending.
  await Promise.all(Array.from({ length: TICK_CONCURRENCY_MAX }, sendNext));
  await deps.store.recordTick(startedAt);
  return { due: due.length, woken, held, failed, left: due.length - taken };
}

/**
 * Whether a due repo is held, with one look at each tenant per tick. A held one leaves the line until the next tick, or it
 * would soon be the oldest of all and stand before the others for ever.
 */
function createHoldCheck(deps: TickDeps): (repoId: RepoId) => Promise<boolean> {
  const byTenant = new Map<TenantId, ReturnType<typeof findReposOnHold>>();
  return async (repoId) => {
    const repo = await deps.store.getRepo(repoId);
    // A queue that goes off takes back what it posted, paid for or not.
    if (repo === null || isOff(repo)) return false;
    const holds = byTenant.get(repo.tenantId) ?? findReposOnHold(deps, repo.tenantId);
    byTenant.set(repo.tenantId, holds);
    if (!(await holds).has(repo.id)) return false;
    if (await mustWindDown(deps.store, repo, deps.clock.now())) return false;
    await deps.store.settleDue(repo.id, repo.wakeSeq, deps.clock.now() + IDLE_DUE_DELAY_MS);
    return true;
  };
}
