import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Turns } from '#core/domain/effort.ts';
import { FileGuard } from '#core/domain/forge/protected-files.ts';

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

const NAME_CHARS_MAX = 200;

/**
 * Names what an answer to that holds for: the patterns, and where the change begins. It is kept for each pull request of a
 * queue, and a rule may have as much text as a whole record.
 */
export function nameOfQuestion(patterns: readonly string[], mergeBase: string | null): string {
  const text = [mergeBase, ...patterns].join('\n');
  return text.length <= NAME_CHARS_MAX ? text : createHash('sha256').update(text).digest('base64');
}
