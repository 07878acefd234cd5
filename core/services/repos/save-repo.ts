import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { DispatchStore, EnrollmentStore } from '../../ports/store.ts';
import { StoreError } from '../../ports/store.ts';

/** A settings change that lands in between costs one more try. */
const SAVE_TRIES_MAX = 5;

export type RepoStore = Pick<EnrollmentStore, 'updateRepo'> & Pick<DispatchStore, 'getRepo'>;

/**
 * Stores a change of the service's own fields on top of whatever settings the row has by now. `gone` when the repo was
 * deleted meanwhile, `unavailable` when the store does not take it.
 */
export async function saveRepo(
  store: RepoStore,
  repo: ManagedRepo,
  change: (current: ManagedRepo) => Partial<ManagedRepo>,
): Promise<ManagedRepo | 'gone' | 'unavailable'> {
  let current = repo;
  for (let tried = 0; tried < SAVE_TRIES_MAX; tried += 1) {
    const next = { ...current, ...change(current) };
    try {
      // A repo that goes off stays due once more, in the same step: what was posted is still to be taken back (D-24).
      return await store.updateRepo(next, { lastLook: current.queueEnabled && !next.queueEnabled });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.kind !== 'lost_race') return 'unavailable';
    }
    const stored = await readAgain(store, repo);
    if (typeof stored === 'string') return stored;
    current = stored;
  }
  return 'unavailable';
}

async function readAgain(store: RepoStore, repo: ManagedRepo): Promise<ManagedRepo | 'gone' | 'unavailable'> {
  try {
    const stored = await store.getRepo(repo.id);
    return stored === null || stored.tombstone ? 'gone' : stored;
  } catch (error) {
    if (error instanceof StoreError) return 'unavailable';
    throw error;
  }
}
