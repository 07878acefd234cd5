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
      const dropped = await Promise.all(dead.map((wake) => writeOff(deps, wake)));
      // What is kept now comes back with a later tick; until then the store has time.
      if (dropped.includes(false)) return;
    }
  } catch (error) {
    deps.log.warn('dead wakes could not be written off', { error });
  }
}

/** Writes one message off, whatever comes of the others. False: it is kept. */
async function writeOff(
  deps: DeadWakeDeps,
  { id, repoId, drop }: Awaited<ReturnType<DeadWakes['take']>>[number],
): Promise<boolean> {
  const fields = { message_id: id, repo_id: repoId };
  deps.log.error('a wake failed for good', fields);
  try {
    if (repoId !== null) await storeOutcome(deps, repoId, fields);
    await drop();
    return true;
  } catch (error) {
    deps.log.warn('dead wakes could not be written off', { ...fields, error });
    return false;
  }
}

/** A row that cannot be read now cannot be read later: its message would come back for ever. */
async function storeOutcome(
  deps: DeadWakeDeps,
  repoId: RepoId,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  try {
    await recordAbandonedWake(deps, repoId);
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'unreadable') throw error;
    deps.log.error('the repository of a dead wake cannot be read', { ...fields, error });
  }
}
