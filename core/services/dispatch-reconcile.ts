import type { EpochMs, RepoId } from '../domain/ids.ts';
import type { HeldLease } from '../domain/lease.ts';
import {
  DUE_TOLERANCE_MS,
  IDLE_DUE_DELAY_MS,
  LEASE_HELD_DELAY_MS,
  LEASE_TAKEOVER_GRACE_MS,
  LEASE_TTL_MS,
  TICK_INTERVAL_MS,
  WAKE_DELAY_MIN_MS,
  WIND_DOWN_MS,
} from '../domain/limits.ts';
import type { ManagedRepo, ReconcileErrorCode, ReconcileOutcome } from '../domain/repo.ts';
import { assertNever } from '../domain/result.ts';
import { retryDelayMs, shareOf } from '../domain/wake.ts';
import { type DispatchStore, type EngineReport, type LeaseStore, StoreError } from '../ports/store.ts';
import {
  type Clock,
  type EngineAnswer,
  type EnginePort,
  type Ids,
  type Log,
  type ReconcileCommand,
  type Vault,
  VaultError,
  type WakeQueue,
} from '../ports/system.ts';
import { withLease } from './lease.ts';
import { findHolds, type HoldStore, type PlanDeps } from './plans.ts';
import {
  finishBurial,
  isOff,
  isWoundDown,
  mustWaitTurn,
  mustWindDown,
  type ObligationStore,
  type PurgeStore,
  type TurnStore,
} from './wind-down.ts';

export interface DispatchDeps extends PlanDeps {
  readonly store: Pick<
    DispatchStore,
    'getRepo' | 'getConnection' | 'settleDue' | 'settleOff' | 'loadReport' | 'saveReconcileOutcome'
  > &
    PurgeStore &
    TurnStore &
    HoldStore &
    ObligationStore;
  readonly leases: LeaseStore;
  readonly vault: Vault;
  readonly engine: EnginePort;
  readonly queue: Pick<WakeQueue, 'sendDelayedWake'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** `queue_name` of the request (D-91). */
  readonly queueName: string;
}

/** What one reconcile came to, as its worker sees it. */
interface Run {
  readonly errorCode: ReconcileErrorCode | null;
  /** Null: at the next tick. */
  readonly wakeAt: EpochMs | null;
  readonly report: EngineReport | null;
  /** The engine may still be at work under this lease. */
  readonly leaveLease: boolean;
  /** It failed, and the next try may go well: the time is not known, and a success may stand unwatched meanwhile. */
  readonly mayPass?: true;
  /** The outcome before it, which holds still. */
  readonly again?: ReconcileOutcome;
}

export type DispatchResult =
  | { readonly kind: 'reconciled'; readonly outcome: ReconcileOutcome; readonly logTail: readonly string[] }
  /** Another worker has the repo; it is looked at again soon. */
  | { readonly kind: 'lease_held' }
  /** Nothing to do: deleted, switched off, or reconciled since the wake was sent. */
  | { readonly kind: 'gone' | 'disabled' | 'not_due' }
  /** Beyond what its tenant pays for, with nothing left to take back (A107). */
  | { readonly kind: 'payment_required' }
  /** An earlier record of the same forge address still takes back what it posted; this one is looked at again soon. */
  | { readonly kind: 'waits_turn' };

/** Answers a wake. A wake is a hint: the repo is loaded again, and what the row says decides (E7). */
export async function dispatchReconcile(deps: DispatchDeps, repoId: RepoId): Promise<DispatchResult> {
  const repo = await deps.store.getRepo(repoId);
  if (repo === null) return { kind: 'gone' };
  const now = deps.clock.now();
  const off = isOff(repo);
  if (off && repo.dueAt === null) {
    if (repo.tombstone) return { kind: 'gone' };
    // A queue that was just switched off takes back what it had posted: the engine is the only writer of statuses (A24).
    if (now - repo.updatedAt > WIND_DOWN_MS) return { kind: 'disabled' };
  } else if (repo.dueAt === null || repo.dueAt > now + DUE_TOLERANCE_MS) return { kind: 'not_due' };
  const onHold = !off && (await findHolds(deps, repo.tenantId)).has(repo.id);
  if (onHold && !(await mustWindDown(deps.store, repo, now))) {
    // Out of the line until the next tick: it must neither look overdue nor stand before those that are paid for.
    await deps.store.settleDue(repo.id, repo.wakeSeq, deps.clock.now() + IDLE_DUE_DELAY_MS);
    return { kind: 'payment_required' };
  }
  if (await mustWaitTurn(deps.store, repo)) {
    await deps.store.settleDue(repo.id, repo.wakeSeq, now + IDLE_DUE_DELAY_MS);
    await deps.queue.sendDelayedWake(repo.id, repo.wakeSeq, LEASE_HELD_DELAY_MS);
    return { kind: 'waits_turn' };
  }
  const stops = onHold || (repo.stopUntil ?? 0) > now;
  const result = await reconcileRepo(deps, repo, stops ? 'wind_down' : 'reconcile');
  // The holder may have read the forge before this wake, and its message ends here: so another one is sent.
  if (result.kind === 'lease_held') {
    await deps.queue.sendDelayedWake(repo.id, repo.wakeSeq, LEASE_HELD_DELAY_MS);
  }
  return result;
}

/**
 * One reconcile under the repo's lease. Every error of the forge, the credential or the engine is an outcome that is
 * stored (A48); only a store that does not answer throws. A wake that came while this ran keeps the repo due (E9).
 */
export async function reconcileRepo(
  deps: DispatchDeps,
  repo: ManagedRepo,
  command: ReconcileCommand = 'reconcile',
): Promise<Extract<DispatchResult, { readonly kind: 'reconciled' | 'lease_held' }>> {
  const leaseDeps = { leases: deps.leases, clock: deps.clock, ids: deps.ids };
  const result = await withLease(
    leaseDeps,
    repo.id,
    'reconcile',
    LEASE_TTL_MS,
    async (held) => {
      const run = await runEngine(deps, repo, { held, command });
      // Caught, not thrown: a throw would release a lease under which the engine may still be at work.
      const recorded = await recordRun(deps, repo, run).catch((error: unknown) => ({ fault: error }));
      return { run, recorded };
    },
    { leaveRunning: ({ run }) => run.leaveLease },
  );
  if (result.kind === 'skipped') return { kind: 'lease_held' };
  const { run, recorded } = result.value;
  if ('fault' in recorded) throw recorded.fault;
  const { outcome, wakeAt } = recorded;
  deps.log.info('reconciled', {
    tenant_id: repo.tenantId,
    repo_id: repo.id,
    ok: outcome.ok,
    error_code: outcome.errorCode,
    // A standstill of the engine is counted by this word.
    by: run.again === undefined ? 'engine' : 'look',
    wake_at: wakeAt,
  });
  return { kind: 'reconciled', outcome, logTail: run.report?.logTail ?? [] };
}

async function runEngine(
  deps: DispatchDeps,
  repo: ManagedRepo,
  { held, command }: { readonly held: HeldLease; readonly command: ReconcileCommand },
): Promise<Run> {
  const failed = (errorCode: ReconcileErrorCode): Run => ({
    errorCode,
    wakeAt: null,
    report: null,
    leaveLease: false,
  });
  const connection = await deps.store.getConnection(repo.tenantId, repo.connectionId);
  // A connection that is being deleted lasts as long as its deleted repos have something to take back.
  if (connection === null || (connection.deleting && !repo.tombstone)) return failed('connection_not_found');
  let answer: EngineAnswer;
  try {
    const owner = {
      ...{ tenantId: repo.tenantId, connectionId: repo.connectionId },
      // Where the token goes: a changed row sends it nowhere.
      instanceUrl: repo.instanceUrl,
    };
    const token = await deps.vault.open(owner, connection.credential);
    answer = await deps.engine.reconcile(
      {
        tenantId: repo.tenantId,
        repoSlug: repo.slug,
        baseBranch: repo.baseBranch,
        queueName: deps.queueName,
        instanceUrl: repo.instanceUrl,
        token,
      },
      { fence: held.fence, command },
    );
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return error.kind === 'undecryptable'
      ? failed('decryption_error')
      : { ...failed('engine_error'), mayPass: true };
  }
  if (answer === 'unchanged') {
    const again = await deps.store.loadReconcileOutcome(repo);
    if (again !== null) return { ...failed('engine_error'), errorCode: again.errorCode, again };
  }
  const hasEnded = answer === 'ok' || answer === 'failed';
  const stored = hasEnded ? await deps.store.loadReport(repo.id) : null;
  // A report under another fence tells of an earlier reconcile.
  const report = stored !== null && stored.fence === held.fence ? stored : null;
  return judgeAnswer(answer, report, held, deps.clock.now());
}

function judgeAnswer(answer: EngineAnswer, report: EngineReport | null, held: HeldLease, now: EpochMs): Run {
  const errorCode = report?.errorCode ?? null;
  const wakeAt = report?.wakeAt ?? null;
  switch (answer) {
    case 'ok':
      return { errorCode, wakeAt, report, leaveLease: false };
    case 'failed':
    case 'refused':
    case 'unreachable':
    // Without an outcome before it there is nothing that could be unchanged.
    case 'unchanged':
      if (report === null)
        return { errorCode: 'engine_error', wakeAt, report, leaveLease: false, mayPass: true };
      return { errorCode: errorCode ?? 'engine_error', wakeAt, report, leaveLease: false };
    case 'starting':
      return { errorCode: 'engine_starting', wakeAt, report, leaveLease: false, mayPass: true };
    case 'lost': {
      const lookAt = Math.max(now, held.expiresAt) + LEASE_TAKEOVER_GRACE_MS;
      return { errorCode: 'timeout', wakeAt: lookAt, report: null, leaveLease: true };
    }
    default:
      return assertNever(answer);
  }
}

interface Recorded {
  readonly outcome: ReconcileOutcome;
  readonly wakeAt: EpochMs | null;
}

async function recordRun(deps: DispatchDeps, repo: ManagedRepo, run: Run): Promise<Recorded> {
  const ranAt = deps.clock.now();
  const { rule, missingScopes } = run.report ?? {};
  const outcome: ReconcileOutcome = {
    ...run.again,
    ...{ ranAt, ok: run.errorCode === null, errorCode: run.errorCode },
    ...(rule === undefined ? {} : { rule }),
    ...(missingScopes === undefined ? {} : { missingScopes }),
  };
  if (run.mayPass !== true) {
    await deps.store.saveReconcileOutcome(repo, outcome);
    await planNextLook(deps, repo, run);
    return { outcome, wakeAt: run.wakeAt };
  }
  const retryingSince = (await readRetryStart(deps, repo)) ?? ranAt;
  await deps.store.saveReconcileOutcome(repo, { ...outcome, retryingSince });
  const delayMs = retryDelayMs(ranAt - retryingSince, shareOf(`${repo.wakeSeq} ${repo.id}`));
  const wakeAt = delayMs === null ? null : ranAt + delayMs;
  await planNextLook(deps, repo, { ...run, wakeAt });
  return { outcome, wakeAt };
}

async function readRetryStart(deps: DispatchDeps, repo: ManagedRepo): Promise<EpochMs | null> {
  try {
    return (await deps.store.loadReconcileOutcome(repo))?.retryingSince ?? null;
  } catch (error) {
    // A damaged row is written anew by this very run.
    if (error instanceof StoreError && error.kind === 'unreadable') return null;
    throw error;
  }
}

/** Due mark first, then the message. When the repo was woken meanwhile, that wake's own message is on its way. */
async function planNextLook(deps: DispatchDeps, repo: ManagedRepo, run: Run): Promise<void> {
  const now = deps.clock.now();
  if (repo.tombstone) {
    // An engine that did not answer may still be at work: the next worker must wait for its lease.
    const burial = run.leaveLease ? 'goes_on' : await finishBurial(deps.store, repo, run, now);
    if (burial === 'left') {
      deps.log.warn('a deleted repository may have left statuses on its forge', {
        ...{ tenant_id: repo.tenantId, repo_id: repo.id, error_code: run.errorCode },
      });
    }
    if (burial !== 'goes_on') return;
  } else if (isOff(repo) && isWoundDown(repo, run, now)) {
    await deps.store.settleOff(repo, repo.wakeSeq);
    return;
  }
  // Whatever the engine waits for longer than a tick: meanwhile the tick finds what no event announced (A46).
  const lookAt = run.wakeAt === null || run.wakeAt > now + TICK_INTERVAL_MS ? null : run.wakeAt;
  const settled = await deps.store.settleDue(repo.id, repo.wakeSeq, lookAt ?? now + IDLE_DUE_DELAY_MS);
  if (!settled || lookAt === null) return;
  const delayMs = Math.max(WAKE_DELAY_MIN_MS, lookAt - now);
  try {
    await deps.queue.sendDelayedWake(repo.id, repo.wakeSeq, delayMs);
  } catch (error) {
    // The wake that this run answers comes back within seconds, and must find the repo due.
    await deps.store.settleDue(repo.id, repo.wakeSeq, now);
    throw error;
  }
}

/** The wake of a repo failed for good: an honest outcome instead of silence. The tick wakes it again. */
export async function recordAbandonedWake(
  deps: Pick<DispatchDeps, 'clock'> & {
    readonly store: Pick<DispatchStore, 'getRepo' | 'saveReconcileOutcome'>;
  },
  repoId: RepoId,
): Promise<boolean> {
  const repo = await deps.store.getRepo(repoId);
  if (repo === null || repo.tombstone) return false;
  const outcome: ReconcileOutcome = { ranAt: deps.clock.now(), ok: false, errorCode: 'engine_error' };
  await deps.store.saveReconcileOutcome(repo, outcome);
  return true;
}
