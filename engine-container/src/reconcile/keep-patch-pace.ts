import type { EpochMs } from '#core/domain/ids.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import { GIVEN_UP_PATCH_KEPT_MS } from '../staging/change-writer.ts';
import type { RepoDirectories } from './engine-memory.ts';

/**
 * The record with the pace of patches that this engine knows. One that has just begun knows none, and takes that of the record:
 * else its first slow patch would be given up anew.
 */
export function keepPatchPace(
  record: QueueRecord,
  pace: RepoDirectories['patchPace'],
  now: EpochMs,
): QueueRecord {
  const { slowPatches, ...rest } = record;
  if (!pace.isKnown && slowPatches !== undefined) {
    pace.slowUntil = slowPatches.until;
    pace.isGivenUp = slowPatches.isGivenUp;
  }
  pace.isKnown = true;
  // The longest time that a pace is kept for: of a clock that was ahead it would never end.
  pace.slowUntil = Math.min(pace.slowUntil, now + GIVEN_UP_PATCH_KEPT_MS);
  if (pace.slowUntil <= now) return rest;
  return { ...rest, slowPatches: { until: pace.slowUntil, isGivenUp: pace.isGivenUp } };
}
