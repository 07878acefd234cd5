import { AppError } from '../../contracts/errors.ts';
import {
  ENGINE_START_MS,
  LOG_TAIL_LINES_MAX,
  MANUAL_RECONCILE_POLL_MS,
  MANUAL_RECONCILE_WAIT_MS,
} from '../../domain/api-limits.ts';
import type { EpochMs, TenantId } from '../../domain/ids.ts';
import type { ManagedRepo, ReconcileErrorCode } from '../../domain/repos/repo.ts';
import {
  describeOutcome,
  RECONCILE_ERROR_SENTENCES,
  type ReconcileOutcome,
} from '../../domain/repos/repo.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { DispatchStore, EnrollmentStore, LeaseStore } from '../../ports/store.ts';
import type { Clock, Log, WakeQueue } from '../../ports/system.ts';
import { findReposOnHold, type PlanDeps } from '../billing/plans.ts';
import { loadOwnRepo } from '../repos/owned.ts';
import { mustWaitTurn } from '../wind-down/wind-down.ts';
import { wakeNow } from './send-wakes.ts';

/** Clocks of two functions differ by less; a stored time beyond it is not waited for. */
const CLOCK_SKEW_MS_MAX = 2_000;

export interface ManualReconcileDeps extends PlanDeps {
  readonly store: DispatchStore & Pick<EnrollmentStore, 'listRepos'> & Pick<AccountStore, 'loadPlan'>;
  readonly leases: Pick<LeaseStore, 'readLeaseState'>;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ManualReconcileResult {
  readonly ranAt: EpochMs;
  readonly ok: boolean;
  readonly error: string | null;
  readonly logTail: readonly string[];
  /** When to ask again, where that is known. */
  readonly retryAfterMs?: number;
}

/**
 * Runs the queue now and waits for what comes of it, 25 s at most (D-25). The worker does it, as for every other wake: it
 * alone holds the right to open credentials and the way to the engine, and the repo's lease keeps two from acting.
 */
export async function reconcileNow(
  deps: ManualReconcileDeps,
  tenantId: TenantId,
  id: string,
): Promise<ManualReconcileResult> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  await refuseUnready(deps, repo);
  const before = (await deps.store.loadReconcileOutcome(repo))?.ranAt ?? null;
  await passTime(deps.clock, before);
  try {
    if (!(await wakeNow(deps, repo.id))) throw new AppError('queue_not_ready');
  } catch (error) {
    if (error instanceof AppError) throw error;
    // The due mark may be set; then the tick finds it.
    deps.log.error('a manual reconcile could not be asked for', { repo_id: repo.id, error });
    return failed(deps, 'engine_error');
  }
  const end = deps.clock.monotonic() + MANUAL_RECONCILE_WAIT_MS;
  let isStarting = false;
  while (deps.clock.monotonic() < end) {
    const outcome = await deps.store.loadReconcileOutcome(repo);
    if (outcome !== null && outcome.ranAt !== before) {
      // One that slept is asked again by the worker until it answers; that answer is the one that was asked for.
      isStarting = outcome.errorCode === 'engine_starting';
      if (!isStarting) return describe(deps, repo, outcome);
    }
    await deps.clock.sleep(MANUAL_RECONCILE_POLL_MS);
  }
  return isStarting
    ? { ...failed(deps, 'engine_starting'), retryAfterMs: ENGINE_START_MS }
    : failed(deps, 'timeout');
}

/** Outcomes are told apart by their times, so the new one must not fall into the same millisecond as the last. */
async function passTime(clock: Clock, before: EpochMs | null): Promise<void> {
  const aheadMs = before === null ? -1 : before - clock.now();
  if (aheadMs >= 0) await clock.sleep(Math.min(aheadMs + 1, CLOCK_SKEW_MS_MAX));
}

async function refuseUnready(deps: ManualReconcileDeps, repo: ManagedRepo): Promise<void> {
  const holds = await findReposOnHold(deps, repo.tenantId);
  if (holds.has(repo.id)) throw new AppError('payment_required', { portal: '/api/v1/billing/portal' });
  if (!repo.queueEnabled) throw new AppError('queue_not_ready');
  const connection = await deps.store.getConnection(repo.tenantId, repo.connectionId);
  if (connection === null || connection.deleting) throw new AppError('connection_not_found');
  if ((await deps.leases.readLeaseState(repo.id)) === 'held') throw new AppError('queue_locked');
  if (await mustWaitTurn(deps.store, repo)) throw new AppError('queue_locked');
}

async function describe(
  deps: ManualReconcileDeps,
  repo: ManagedRepo,
  outcome: ReconcileOutcome,
): Promise<ManualReconcileResult> {
  const { ranAt, errorCode } = outcome;
  if (errorCode === 'decryption_error' || errorCode === 'connection_not_found') throw new AppError(errorCode);
  const report = await deps.store.loadReport(repo.id);
  return {
    ranAt,
    ok: errorCode === null,
    error: describeOutcome(outcome),
    logTail: (report?.logTail ?? []).slice(-LOG_TAIL_LINES_MAX),
  };
}

function failed(deps: ManualReconcileDeps, code: ReconcileErrorCode): ManualReconcileResult {
  return { ranAt: deps.clock.now(), ok: false, error: RECONCILE_ERROR_SENTENCES[code], logTail: [] };
}
