import type { ReconcileOutcome } from '../repos/repo.ts';
import type { QueueView } from './queue-view.ts';

/**
 * A landing has begun after this look had ended: the queue goes on, whatever that look found. How the next one went is told at
 * its end only, and it may wait for that very landing until then.
 */
export function goesOnSince(
  { ranAt }: Pick<ReconcileOutcome, 'ranAt'>,
  block: Pick<QueueView['block'], 'kind' | 'since'> | undefined,
): boolean {
  return block?.kind === 'merge' && block.since !== null && block.since > ranAt;
}
