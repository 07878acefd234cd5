import { AppError } from '../../contracts/errors.ts';
import {
  CANCEL_CONCURRENCY_MAX,
  DISABLE_LEASE_TTL_MS,
  STOP_ASKED_MS,
  STOP_POLL_MS,
  STOP_WAIT_MS,
} from '../../domain/api-limits.ts';
import type { ManagedRepo, ReconcileOutcome } from '../../domain/repos/repo.ts';
import { ForgeError, isScheduleKept } from '../../ports/forge.ts';
import type { ForgeAdmin } from '../../ports/forge-admin.ts';
import { type DispatchStore, type LeaseStore, StoreError } from '../../ports/store.ts';
import type { Clock, Ids, Log, WakeQueue } from '../../ports/system.ts';
import { deniedCall, deniedLook, failedAs } from '../connections/denied.ts';
import type { OpenForge } from '../connections/open-forge.ts';
import { withLease } from '../wakes/lease.ts';
import { tryWake } from '../wakes/send-wakes.ts';
import { type LiveStore, readLivePrs } from './live-batches.ts';

export interface StopDeps {
  readonly store: LiveStore & Pick<DispatchStore, 'askStop' | 'loadReconcileOutcome' | 'markDue'>;
  readonly leases: LeaseStore;
  readonly openForge: OpenForge;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * The queue goes off only once nothing in flight can land any more (D-24). First the engine, the only writer of statuses,
 * takes back the success that stands. Then, under the repo's lease, so that no worker stages meanwhile, every scheduled
 * merge of a live batch is taken back, and the switch is stored. Whatever of this cannot be confirmed leaves the queue on.
 */
export async function stopQueue(
  deps: StopDeps,
  repo: ManagedRepo,
  storeOff: () => Promise<ManagedRepo>,
): Promise<ManagedRepo> {
  const end = deps.clock.monotonic() + STOP_WAIT_MS;
  if (await isSuccessStanding(deps, repo)) await takeBackSuccess(deps, repo, end);
  const result = await lockQueue(deps, repo, end, async () => {
    // A worker may have gone on until the lease was ours.
    if (await isSuccessStanding(deps, repo)) throw new AppError('queue_locked');
    await cancelMerges(deps, repo, await readLivePrs(deps.store, repo));
    return storeOff();
  });
  await tryWake(deps, repo.id);
  return result;
}

async function isSuccessStanding({ store }: StopDeps, repo: ManagedRepo): Promise<boolean> {
  return (await store.readObligations(repo.id))?.successStands === true;
}

/**
 * Asks the engine to take back what stands: the reconcile under way sees it at its next look, and else the wake starts one.
 * Asked for once, it is done although the caller waits no longer. False: switched off or deleted meanwhile.
 */
async function askEngine(deps: StopDeps, repo: ManagedRepo): Promise<boolean> {
  const wakeSeq = await deps.store.askStop(repo.id, deps.clock.now() + STOP_ASKED_MS);
  if (wakeSeq === null) return false;
  try {
    await deps.queue.sendWake(repo.id, wakeSeq);
  } catch (error) {
    deps.log.warn('the engine could not be asked to stop a queue', { repo_id: repo.id, error });
    throw new AppError('queue_lock_failed');
  }
  return true;
}

async function takeBackSuccess(deps: StopDeps, repo: ManagedRepo, end: number): Promise<void> {
  const before = (await deps.store.loadReconcileOutcome(repo))?.ranAt ?? null;
  // What is stored then decides.
  if (!(await askEngine(deps, repo))) return;
  while (deps.clock.monotonic() < end) {
    await deps.clock.sleep(STOP_POLL_MS);
    if (!(await isSuccessStanding(deps, repo))) return;
    const outcome = await deps.store.loadReconcileOutcome(repo);
    const isNew = outcome !== null && outcome.ranAt !== before;
    if (isNew && outcome.errorCode !== null) throw refusalOf(outcome);
  }
  throw new AppError('queue_locked');
}

function refusalOf(outcome: ReconcileOutcome): AppError {
  const { errorCode } = outcome;
  switch (errorCode) {
    case 'forge_access_denied':
      return deniedLook(outcome);
    case 'forge_unreachable':
    case 'decryption_error':
    case 'connection_not_found':
      return new AppError(errorCode);
    case 'forge_call_failed':
      return new AppError('forge_unreachable');
    default:
      return new AppError('queue_lock_failed');
  }
}

/**
 * Until `end`, waits for the engine to let go of the lease. An engine at work is asked to stop, so that it begins nothing
 * more; one that was asked before still writes on each head that the queue is off.
 */
async function lockQueue<T>(
  deps: StopDeps,
  repo: ManagedRepo,
  end: number,
  run: () => Promise<T>,
): Promise<T> {
  let fault: unknown;
  const attempt = async (): Promise<T | null> => {
    try {
      return await run();
    } catch (error) {
      fault = error;
      return null;
    }
  };
  try {
    const lock = () => withLease(deps, repo.id, 'disable', DISABLE_LEASE_TTL_MS, attempt);
    let locked = await lock();
    if (locked.kind === 'skipped') await askEngine(deps, repo);
    while (locked.kind === 'skipped') {
      if (deps.clock.monotonic() >= end) throw new AppError('queue_locked');
      await deps.clock.sleep(STOP_POLL_MS);
      locked = await lock();
    }
    if (locked.value !== null) return locked.value;
  } catch (error) {
    if (error instanceof StoreError) throw new AppError('queue_lock_failed');
    throw error;
  }
  throw fault;
}

async function cancelMerges(deps: StopDeps, repo: ManagedRepo, prs: readonly number[]): Promise<void> {
  if (prs.length === 0) return;
  const opened = await deps.openForge(repo);
  if (opened.kind !== 'open') throw failedAs(opened.kind);
  try {
    await cancelAll(opened.forge, prs);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (isScheduleKept(error)) throw new AppError('schedules_not_cancelled');
    // Their successes are taken back, so none of them merges; an archived repository lets no automatic merge be cancelled.
    if (error.kind !== 'archived')
      throw error.kind === 'denied' ? deniedCall(error) : new AppError('forge_unreachable');
  }
}

/**
 * Several side by side: a batch has dozens, and the request a few seconds. After the first fault none begins any more, and
 * those under way are waited for: one that is sent once the lease is given back would take a schedule from a queue that is on.
 */
async function cancelAll(forge: ForgeAdmin, prs: readonly number[]): Promise<void> {
  const waiting = prs.values();
  const faults: unknown[] = [];
  const cancelNext = async (): Promise<void> => {
    for (const pr of waiting) {
      if (faults.length > 0) return;
      try {
        await forge.cancelAutoMerge(pr);
      } catch (error) {
        faults.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: CANCEL_CONCURRENCY_MAX }, cancelNext));
  if (faults.length > 0) throw faults[0];
}
