import { PENDING_STATUSES_MAX } from '#core/domain/limits.ts';
import { type DecisionContext, wishStatus } from './decision-context.ts';
import { describeDefer, describeQueued } from './describe.ts';
import type { QueueEntry } from './queue-entry.ts';
import { isBounced } from './recall.ts';
import type { QueueRecord } from './record.ts';

/**
 * Words that have stopped being true are replaced at once: of a bounce that was scheduled again, a head that was renewed, a
 * refusal or a conflict that is over. What was `pending` for the queue itself stays: the next step writes over it.
 */
export function replaceOldWords(pass: DecisionContext): void {
  for (const entry of pass.record.entries) {
    // The rest is said in a later look: who waits to enter must not wait for these words.
    if (pass.record.pendingStatuses.length >= PENDING_STATUSES_MAX / 2) return;
    if (!isOutdated(pass.record, entry)) continue;
    const { pr, head: sha } = entry;
    wishStatus(pass, { pr, sha, state: 'pending', description: describeQueued(), targetUrl: null });
  }
}

function isOutdated(record: QueueRecord, entry: QueueEntry): boolean {
  const { said, head } = entry;
  if (said === undefined || said.head !== head || said.state === 'success') return false;
  if (said.state === 'pending' && !said.description.startsWith('waiting:')) return false;
  if (entry.readyAt === null || entry.scheduleId === 0 || entry.refusedFor !== null) return false;
  if (isBounced(record, entry) || entry.unclear !== undefined) return false;
  if (record.batches.some((batch) => batch.landing?.head === head)) return false;
  return !record.deferred.some(
    (deferred) =>
      deferred.pr === entry.pr && deferred.head === head && describeDefer(deferred.reason) !== null,
  );
}
