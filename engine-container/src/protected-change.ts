import { setImmediate } from 'node:timers/promises';
import { FileGuard } from '#core/domain/protected-files.ts';

/** Steps between two turns of all others in the engine: some milliseconds. */
const TURN_STEPS_MAX = 1_000_000;

/** Does a change of these files wait for a person, as the patterns of the branch rule say? */
export async function isAnyProtected(
  paths: readonly string[],
  patterns: readonly string[],
): Promise<boolean> {
  const guard = new FileGuard(patterns);
  let turnAt = guard.stepsLeft - TURN_STEPS_MAX;
  for (const path of paths) {
    if (guard.covers(path)) return true;
    if (guard.stepsLeft > turnAt) continue;
    turnAt = guard.stepsLeft - TURN_STEPS_MAX;
    await setImmediate();
  }
  return false;
}
