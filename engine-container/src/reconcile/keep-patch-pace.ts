import type { EpochMs } from '#core/domain/ids.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { RepoDirectories } from './engine-memory.ts';

/** No pace is kept for longer: a record of a clock that was ahead would keep it for good. */
const PACE_KEPT_MS_MAX = 24 * 60 * 60_000;

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
  pace.slowUntil = Math.min(pace.slowUntil, now + PACE_KEPT_MS_MAX);
  if (pace.slowUntil <= now) return rest;
  return { ...rest, slowPatches: { until: pace.slowUntil, isGivenUp: pace.isGivenUp } };
}
