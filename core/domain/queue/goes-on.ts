import type { ReconcileOutcome } from '../repos/repo.ts';
import type { BlockKind, QueueView } from './queue-view.ts';

/** Obstacles that begin only where the queue writes to the forge. */
const WRITTEN: readonly BlockKind[] = ['gate', 'runner', 'merge'];

/**
 * A gate run or a landing has begun after this look had ended: the queue goes on, whatever that look found. How the next one
 * went is told at its end only, and it may wait for that very landing until then.
 */
export function goesOnSince(
  { ranAt }: Pick<ReconcileOutcome, 'ranAt'>,
  block: Pick<QueueView['block'], 'kind' | 'since'> | undefined,
): boolean {
  if (block === undefined || block.since === null) return false;
  return WRITTEN.includes(block.kind) && block.since > ranAt;
}
