import type { RepoId } from '#core/domain/ids.ts';
import type { Log } from '#core/ports/system.ts';
import { followClock } from '../queue/record/clock-step.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { RepoIdentity } from '../reading/repo-identity.ts';
import type { RepoDirectories } from './engine-memory.ts';
import { keepPatchPace } from './keep-patch-pace.ts';
import type { SteadyClock } from './steady-clock.ts';

interface Knowledge {
  readonly identity: RepoIdentity;
  readonly memory: Pick<RepoDirectories, 'patchPace'>;
  readonly clock: SteadyClock;
}

/** The stored record as this engine goes on with it: by the present wall clock, whatever was done to that since it was stored. */
export function adoptRecord(
  stored: QueueRecord,
  { identity, memory, clock }: Knowledge,
  { log, repoId }: { readonly log: Log; readonly repoId: RepoId },
): QueueRecord {
  const stepMs = clock.stepSince(stored.storedBy);
  if (stepMs !== 0)
    log.warn('the wall clock was set forward or back, and the waits are moved with it', {
      repo_id: repoId,
      step_ms: stepMs,
    });
  identity.begin(stored);
  const record = { ...followClock(stored, stepMs), storedBy: clock.start };
  return keepPatchPace(record, memory.patchPace, clock.now());
}

/** The record with what this engine has learned besides the queue. */
export function withLearned(record: QueueRecord, { identity, memory, clock }: Knowledge): QueueRecord {
  const { id } = identity;
  const known = id === null ? record : { ...record, repoId: id };
  return keepPatchPace(known, memory.patchPace, clock.now());
}
