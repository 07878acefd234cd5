import type { TenantId } from '../../domain/ids.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { DispatchStore, EnrollmentStore, LeaseStore } from '../../ports/store.ts';
import { StoreError } from '../../ports/store.ts';
import type { Clock, WakeQueue } from '../../ports/system.ts';
import { type AuditDeps, recordChange } from '../tenants/audit.ts';
import { tryWake } from '../wakes/send-wakes.ts';
import { type LiveStore, readLivePrs } from '../wind-down/live-batches.ts';
import { loadOwnRepo } from './owned.ts';

/** A settings change that lands in between costs one more try. */
const BURY_TRIES_MAX = 5;

export interface DeletionDeps extends AuditDeps {
  readonly store: AuditDeps['store'] &
    EnrollmentStore &
    Pick<DispatchStore, 'getConnection' | 'getRepo' | 'markDue'> &
    LiveStore;
  readonly leases: Pick<LeaseStore, 'readLeaseState'>;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
}

export async function deleteRepo(deps: DeletionDeps, tenantId: TenantId, id: string): Promise<void> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  await buryRepo(deps, repo);
  await recordChange(deps, tenantId, 'repo.delete', repo.id);
}

/**
 * From here on the repo is gone for all but the worker (D-24): its forge address, its hook and its place are free.
 * Without anything in flight its rows are deleted at once, else they stay as a tombstone until the engine has taken back
 * what it posted. Returns whether they stay.
 */
export async function buryRepo(deps: DeletionDeps, repo: ManagedRepo): Promise<'buried' | 'deleted'> {
  const buried = await bury(deps, repo);
  if (buried === null) return 'deleted';
  // Looked at only now: a worker that has no lease by now will find the tombstone, and begin nothing.
  if (!(await mayBeLive(deps, buried))) {
    await deps.store.deleteRepo(buried);
    return 'deleted';
  }
  await tryWake(deps, repo.id);
  return 'buried';
}

/** A record that cannot be read may have something in flight. */
async function mayBeLive(deps: DeletionDeps, repo: ManagedRepo): Promise<boolean> {
  if ((await deps.leases.readLeaseState(repo.id)) !== 'idle') return true;
  try {
    // A last word to a head may be all that is left, when no batch is open any more (A24).
    const obligations = await deps.store.readObligations(repo.id);
    return obligations?.open === true || (await readLivePrs(deps.store, repo)).length > 0;
  } catch (error) {
    if (error instanceof StoreError) return true;
    throw error;
  }
}

/** The tombstone; null when the repo is gone meanwhile. */
async function bury(deps: DeletionDeps, repo: ManagedRepo): Promise<ManagedRepo | null> {
  let current: ManagedRepo | null = repo;
  for (let tried = 0; tried < BURY_TRIES_MAX; tried += 1) {
    if (current === null || current.tombstone) return current;
    try {
      await deps.store.buryRepo(current);
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'lost_race') throw error;
    }
    current = await deps.store.getRepo(repo.id);
  }
  if (current === null || current.tombstone) return current;
  throw new StoreError('lost_race', 'buryRepo');
}
