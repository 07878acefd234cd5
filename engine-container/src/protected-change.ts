import { setImmediate } from 'node:timers/promises';
import { Turns } from '#core/domain/effort.ts';
import { FileGuard } from '#core/domain/protected-files.ts';

/** Does a change of these files wait for a person, as the patterns of the branch rule say? */
export async function isAnyProtected(
  paths: readonly string[],
  patterns: readonly string[],
): Promise<boolean> {
  const guard = new FileGuard(patterns);
  const turns = new Turns(() => guard.stepsLeft);
  for (const path of paths) {
    if (guard.covers(path)) return true;
    if (turns.isDue()) await setImmediate();
  }
  return false;
}
