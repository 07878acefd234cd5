import type { PullRequest } from '#core/domain/forge/forge.ts';
import { defer } from '../batches/batch.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { QueueEntry } from '../record/queue-entry.ts';

/**
 * Aside because the forge would not merge: let go as soon as it would, and told as a conflict once no check can still
 * be running.
 */
export function reviewHeld(pass: DecisionContext, entry: QueueEntry, { mergeable }: PullRequest): void {
  const { record, s } = pass;
  if (mergeable) {
    delete entry.unmergeable;
    record.deferred = record.deferred.filter(
      ({ pr, reason }) => pr !== entry.pr || (reason !== 'not_mergeable' && reason !== 'forge_conflict'),
    );
    return;
  }
  const held = record.deferred.find(
    ({ pr, head, isHeld }) => pr === entry.pr && head === entry.head && isHeld,
  );
  if (held === undefined || held.until === null || s.now < held.until) return;
  defer(pass, entry, { reason: 'forge_conflict', baseTree: held.baseTree, until: null });
}
