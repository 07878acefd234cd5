import { AppError } from '../contracts/errors.ts';
import { DISABLE_LEASE_TTL_MS } from '../domain/api-limits.ts';
import type { TenantId } from '../domain/ids.ts';
import type { NotificationTargets } from '../domain/notification.ts';
import type { ManagedRepo, WakeupMode } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';
import { ForgeError } from '../ports/forge.ts';
import { type DispatchStore, type EnrollmentStore, type LeaseStore, StoreError } from '../ports/store.ts';
import type { Clock, WakeQueue } from '../ports/system.ts';
import { recordChange } from './audit.ts';
import { codeOf } from './ci-gate.ts';
import { withLease } from './lease.ts';
import { readLivePrs } from './live-batches.ts';
import { loadOwnRepo } from './owned.ts';
import { changeStatusContext, type ProvisioningDeps, provisionRepo } from './provisioning.ts';
import { saveRepo } from './save-repo.ts';
import { tryWake } from './wake.ts';

export interface UpdateDeps extends ProvisioningDeps {
  readonly store: EnrollmentStore &
    Pick<DispatchStore, 'getRepo' | 'markDue'> &
    Pick<AccountStore, 'readBatchHistory' | 'readQueueViews' | 'appendAudit'>;
  readonly leases: LeaseStore;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
}

export interface RepoChanges {
  readonly wakeupMode?: WakeupMode | undefined;
  readonly queueEnabled?: boolean | undefined;
  readonly batchLingerSeconds?: number | undefined;
  readonly batchTarget?: number | undefined;
  readonly bisectFanout?: number | undefined;
  readonly statusContext?: string | undefined;
  readonly notification?: NotificationTargets | null | undefined;
}

/** Settings of one repo, already validated as a whole (A65). Nothing to change is a success. */
export async function updateRepo(
  deps: UpdateDeps,
  tenantId: TenantId,
  id: string,
  changes: RepoChanges,
): Promise<ManagedRepo> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  const wanted = definedOnly(changes);
  if (Object.keys(wanted).length === 0) return repo;
  const stops = wanted.queueEnabled === false && repo.queueEnabled;
  const saved = await noteFailure(deps, repo, () =>
    stops ? stopQueue(deps, repo, () => store(deps, repo, wanted)) : store(deps, repo, wanted),
  );
  await recordChange(deps, tenantId, 'repo.update', repo.id);
  if (saved.queueEnabled && !repo.queueEnabled) await tryWake(deps, repo.id);
  const hooks = saved.wakeupMode === 'webhook' && repo.wakeupMode !== 'webhook';
  return hooks ? (await provisionRepo(deps, saved)).repo : saved;
}

/** Something may have been changed on the forge by then: a merge taken back, a rule edited. */
async function noteFailure<T>(deps: UpdateDeps, repo: ManagedRepo, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await recordChange(deps, repo.tenantId, 'repo.update', repo.id, 'failed');
    throw error;
  }
}

function definedOnly(changes: RepoChanges): Partial<ManagedRepo> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

async function store(
  deps: UpdateDeps,
  repo: ManagedRepo,
  wanted: Partial<ManagedRepo>,
): Promise<ManagedRepo> {
  const now = deps.clock.now();
  const starts = wanted.queueEnabled === true && !repo.queueEnabled;
  // Switching on also lifts a stop that is older (tree_mismatch).
  const changes = { ...wanted, ...(starts ? { enabledAt: now, dueAt: now } : {}) };
  const { statusContext, ...others } = changes;
  if (statusContext === undefined) {
    const saved = await saveRepo(deps.store, repo, () => ({ ...others, updatedAt: now }));
    if (typeof saved === 'string') throw new AppError(saved === 'gone' ? 'not_found' : 'db_error');
    return saved;
  }
  const changed = await changeStatusContext(deps, repo, statusContext, others);
  if (changed.kind !== 'done') throw new AppError(changed.kind);
  return changed.repo;
}

/**
 * The queue goes off only once nothing in flight can land any more (D-24): under the repo's lease, so that no worker
 * stages meanwhile, every scheduled merge of a live batch is taken back, then the switch is stored. A scheduled merge
 * that cannot be taken back leaves the queue on. What was already posted is revoked by the engine, the only writer of
 * statuses: the repo stays due for that one last look.
 */
async function stopQueue(
  deps: UpdateDeps,
  repo: ManagedRepo,
  storeOff: () => Promise<ManagedRepo>,
): Promise<ManagedRepo> {
  const live = await readLivePrs(deps.store, repo);
  const result = await lockQueue(deps, repo, async () => {
    if (live.length > 0) await cancelMerges(deps, repo, live);
    return storeOff();
  });
  await tryWake(deps, repo.id);
  return result;
}

async function lockQueue<T>(deps: UpdateDeps, repo: ManagedRepo, run: () => Promise<T>): Promise<T> {
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
    const locked = await withLease(deps, repo.id, 'disable', DISABLE_LEASE_TTL_MS, attempt);
    if (locked.kind === 'skipped') throw new AppError('queue_locked');
    if (locked.value !== null) return locked.value;
  } catch (error) {
    if (error instanceof StoreError) throw new AppError('queue_lock_failed');
    throw error;
  }
  throw fault;
}

async function cancelMerges(deps: UpdateDeps, repo: ManagedRepo, prs: readonly number[]): Promise<void> {
  const opened = await deps.openForge(repo);
  if (opened.kind !== 'open') throw new AppError(opened.kind);
  try {
    for (const pr of prs) await opened.forge.cancelAutoMerge(pr);
  } catch (error) {
    if (error instanceof ForgeError) throw new AppError(codeOf(error));
    throw error;
  }
}
