import type { TenantId } from '../domain/ids.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { DispatchStore, EnrollmentStore } from '../ports/store.ts';
import { StoreError } from '../ports/store.ts';
import type { Clock, WakeQueue } from '../ports/system.ts';
import { type AuditDeps, recordChange } from './audit.ts';
import { type LiveStore, readLivePrs } from './live-batches.ts';
import { loadOwnRepo } from './owned.ts';
import { wakeNow } from './wake.ts';

export interface DeletionDeps extends AuditDeps {
  readonly store: AuditDeps['store'] &
    EnrollmentStore &
    Pick<DispatchStore, 'getConnection' | 'getRepo' | 'markDue'> &
    LiveStore;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
}

export async function deleteRepo(deps: DeletionDeps, tenantId: TenantId, id: string): Promise<void> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  await buryRepo(deps, repo);
  await recordChange(deps, tenantId, 'repo.delete', repo.id);
}

/**
 * From here on the repo is gone for everybody but the worker (D-24): with a batch in flight its rows stay as a tombstone
 * until the engine has taken back what it posted, without one they are deleted at once. Returns whether they stay.
 */
export async function buryRepo(deps: DeletionDeps, repo: ManagedRepo): Promise<'buried' | 'deleted'> {
  if (!(await mayBeLive(deps, repo)) || !(await markDeleted(deps, repo))) {
    await deps.store.deleteRepo(repo);
    return 'deleted';
  }
  try {
    await wakeNow(deps, repo.id);
  } catch (error) {
    // The due mark is stored with the tombstone, so the tick finds it.
    deps.log.warn('a deleted repo could not be woken to revoke its statuses', { repo_id: repo.id, error });
  }
  return 'buried';
}

/** What cannot be read may be in flight. */
async function mayBeLive(deps: DeletionDeps, repo: ManagedRepo): Promise<boolean> {
  try {
    // A last word to a head may be all that is left, when no batch is open any more (A24).
    const view = (await deps.store.readQueueViews([repo.id])).get(repo.id);
    return view?.afoot === true || (await readLivePrs(deps.store, repo)).length > 0;
  } catch (error) {
    if (error instanceof StoreError) return true;
    throw error;
  }
}

/** A settings change that lands in between costs one more try. */
const MARK_TRIES_MAX = 5;

/** False when it is gone meanwhile. */
async function markDeleted(deps: DeletionDeps, repo: ManagedRepo): Promise<boolean> {
  let current: ManagedRepo | null = repo;
  for (let tried = 0; tried < MARK_TRIES_MAX; tried += 1) {
    if (current === null) return false;
    if (current.tombstone) return true;
    const marked = { ...current, tombstone: true, queueEnabled: false, updatedAt: deps.clock.now() };
    try {
      await deps.store.updateRepo(marked, { lastLook: true });
      return true;
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'lost_race') throw error;
    }
    current = await deps.store.getRepo(repo.id);
  }
  throw new StoreError('lost_race', 'deleteRepo');
}
