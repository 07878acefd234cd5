import type { EpochMs, RepoId } from '../../domain/ids.ts';
import { BURIED_WIND_DOWN_MS, WIND_DOWN_MS } from '../../domain/limits.ts';
import { concernsBranch } from '../../domain/repos/managed-branch.ts';
import type { Connection, ManagedRepo, ReconcileErrorCode } from '../../domain/repos/repo.ts';
import type { DispatchStore, EnrollmentStore } from '../../ports/store.ts';
import { type EraseStore, eraseTenant } from '../tenants/erase-tenant.ts';
import { type LiveStore, readLeftHeads } from './live-batches.ts';

/** Switched off or deleted: nothing new is begun, what was posted is taken back (D-24). */
export function isOff(repo: Pick<ManagedRepo, 'queueEnabled' | 'tombstone'>): boolean {
  return repo.tombstone || !repo.queueEnabled;
}

/** Without these the engine cannot reach the forge, now or later. */
const HOPELESS: readonly (ReconcileErrorCode | null)[] = ['connection_not_found', 'decryption_error'];

export interface LastLook {
  readonly errorCode: ReconcileErrorCode | null;
  /** When the engine wants to look again; null: it has nothing left to do. */
  readonly wakeAt: EpochMs | null;
}

/** Nothing is left on the forge that the engine could take back, or it had its time (`updatedAt` is when it went off). */
export function isWoundDown(repo: ManagedRepo, look: LastLook, now: EpochMs, mostMs = WIND_DOWN_MS): boolean {
  if (HOPELESS.includes(look.errorCode)) return true;
  if (look.errorCode === null && look.wakeAt === null) return true;
  return now - repo.updatedAt > mostMs;
}

export type ObligationStore = Pick<DispatchStore, 'readObligations' | 'loadReconcileOutcome'>;

/**
 * Whether a repo that is held for payment still has something to take back, as when it goes off: a success must not stand
 * on a head for as long as the plan is unpaid (A24). The time since when the repo is held is not stored. So its obligations
 * must have changed within the time that a queue gets when it goes off, or its last look must have gone well.
 */
export async function mustWindDown(
  store: ObligationStore,
  repo: ManagedRepo,
  now: EpochMs,
): Promise<boolean> {
  const obligations = await store.readObligations(repo.id);
  if (obligations?.open !== true) return false;
  const last = await store.loadReconcileOutcome(repo);
  if (last === null || last.ok) return true;
  return !HOPELESS.includes(last.errorCode) && now - obligations.at <= WIND_DOWN_MS;
}

export type PurgeStore = Pick<EnrollmentStore, 'deleteRepo' | 'listRepos' | 'deleteConnection'> &
  Pick<DispatchStore, 'getConnection' | 'listReposAt'> &
  EraseStore &
  LiveStore;

/** `left`: the time was over, and something of ours may still stand on the forge. */
export type Burial = 'goes_on' | 'done' | 'left';

/**
 * Ends the wind-down of a deleted repo if it is over. Who enrolled the same branch waits for that: then it ends
 * sooner, and at once where the forge refuses the old credential. It ends sooner for a tenant that leaves as well, whose
 * other rows go with the last of its repos. What could not be taken back is left to the next record of this branch.
 */
export async function finishBurial(
  store: PurgeStore,
  repo: ManagedRepo,
  look: LastLook,
  now: EpochMs,
): Promise<Burial> {
  const managed = await store.listReposAt(repo);
  const isAwaited = managed.some((other) => concernsBranch(repo, other));
  const isRefused = look.errorCode === 'forge_access_denied' && isAwaited;
  const isLeaving = (await store.loadTenant(repo.tenantId))?.deleting === true;
  const mostMs = isAwaited || isLeaving ? WIND_DOWN_MS : BURIED_WIND_DOWN_MS;
  if (!isRefused && !isWoundDown(repo, look, now, mostMs)) return 'goes_on';
  const isClean = look.errorCode === null && look.wakeAt === null;
  const left = isClean ? undefined : await readLeftHeads(store, repo);
  const { tenantId, connectionId } = repo;
  const dropAround = async (ended?: RepoId): Promise<void> => {
    await dropConnection(store, { tenantId, id: connectionId }, ended);
    if (isLeaving) await eraseTenant(store, tenantId, ended);
  };
  // The rows by which it is due go last: a worker that dies before is followed by another one, and after them by none.
  await dropAround(repo.id);
  await store.deleteRepo(repo, left);
  // One that ended at the same time has seen this one, and has left the rest to it.
  await dropAround();
  return isClean ? 'done' : 'left';
}

/**
 * The row of a deleted connection, unless one of its repos still needs it.
 *
 * @param ended - A repo that needs it no more, although its rows are still there.
 */
export async function dropConnection(
  store: Pick<EnrollmentStore, 'listRepos' | 'deleteConnection'> & Pick<DispatchStore, 'getConnection'>,
  { tenantId, id }: Pick<Connection, 'tenantId' | 'id'>,
  ended?: RepoId,
): Promise<void> {
  const connection = await store.getConnection(tenantId, id);
  if (connection === null || !connection.deleting) return;
  const left = await store.listRepos(tenantId);
  if (left.some((each) => each.connectionId === id && each.id !== ended)) return;
  await store.deleteConnection(tenantId, id);
}

export type TurnStore = Pick<DispatchStore, 'listWindDowns'>;

/**
 * Whether an earlier record of the same branch, or of the same context, is still being wound down: two such records never
 * act side by side. What is deleted was enrolled before what came after it, so the answer can only go from yes to no.
 */
export async function mustWaitTurn(store: TurnStore, repo: ManagedRepo): Promise<boolean> {
  const waiting = (await store.listWindDowns(repo)).filter((left) => concernsBranch(left, repo));
  return waiting.length > 0 && waiting[0]?.id !== repo.id;
}
