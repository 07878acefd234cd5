import type { EpochMs } from '../domain/ids.ts';
import { WIND_DOWN_MS } from '../domain/limits.ts';
import type { ManagedRepo, ReconcileErrorCode } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';
import type { DispatchStore, EnrollmentStore } from '../ports/store.ts';

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
export function isWoundDown(repo: ManagedRepo, look: LastLook, now: EpochMs): boolean {
  if (HOPELESS.includes(look.errorCode)) return true;
  if (look.errorCode === null && look.wakeAt === null) return true;
  return now - repo.updatedAt > WIND_DOWN_MS;
}

export type AfootStore = Pick<AccountStore, 'readQueueViews'> & Pick<DispatchStore, 'loadReconcileOutcome'>;

/**
 * Whether a repo that is held for payment still has something to take back, as when it goes off: a success must not stand
 * on a head for as long as nobody pays (A24). Nobody stored since when it is held, so what it shows must have changed
 * within the time that a queue gets when it goes off, or its last look have gone well.
 */
export async function mustWindDown(store: AfootStore, repo: ManagedRepo, now: EpochMs): Promise<boolean> {
  const view = (await store.readQueueViews([repo.id])).get(repo.id);
  if (view?.afoot !== true) return false;
  const last = await store.loadReconcileOutcome(repo);
  if (last === null || last.ok) return true;
  return !HOPELESS.includes(last.errorCode) && now - view.at <= WIND_DOWN_MS;
}

export type PurgeStore = Pick<EnrollmentStore, 'deleteRepo' | 'listRepos' | 'deleteConnection'> &
  Pick<DispatchStore, 'getConnection'>;

/** The rows of a deleted repo, and of its connection if that was only waiting for the last of its repos. */
export async function purgeRepo(store: PurgeStore, repo: ManagedRepo): Promise<void> {
  await store.deleteRepo(repo);
  const connection = await store.getConnection(repo.tenantId, repo.connectionId);
  if (connection === null || !connection.deleting) return;
  const left = await store.listRepos(repo.tenantId);
  if (left.some((each) => each.connectionId === connection.id)) return;
  await store.deleteConnection(repo.tenantId, connection.id);
}
