import type { RepoId } from '../../domain/ids.ts';
import { StoreError } from '../../ports/store.ts';
import type { DeadWakes, Log } from '../../ports/system.ts';
import { type DispatchDeps, recordAbandonedWake } from './dispatch-reconcile.ts';

/** Asked at most so often in one tick: what is left is there at the next. */
const ROUNDS_MAX = 5;

export interface DeadWakeDeps {
  readonly deadWakes: DeadWakes;
  readonly store: Parameters<typeof recordAbandonedWake>[0]['store'];
  readonly clock: DispatchDeps['clock'];
  readonly log: Log;
}

/** Stores an outcome for each repo whose wake failed for good. Never throws: the tick wakes the others whatever comes of this. */
export async function writeOffDeadWakes(deps: DeadWakeDeps): Promise<void> {
  try {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const dead = await deps.deadWakes.take();
      if (dead.length === 0) return;
      for (const { id, repoId, drop } of dead) {
        deps.log.error('a wake failed for good', { message_id: id, repo_id: repoId });
        if (repoId !== null) await writeOff(deps, repoId);
        await drop();
      }
    }
  } catch (error) {
    deps.log.warn('dead wakes could not be written off', { error });
  }
}

/** A row that cannot be read does not keep the others from it: its wake is dropped, and the log says so. */
async function writeOff(deps: DeadWakeDeps, repoId: RepoId): Promise<void> {
  try {
    await recordAbandonedWake(deps, repoId);
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'unreadable') throw error;
    deps.log.error('the row of a repository whose wake failed cannot be read', { repo_id: repoId });
  }
}
