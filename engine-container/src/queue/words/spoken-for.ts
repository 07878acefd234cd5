import type { CommitSha } from '#core/domain/ids.ts';
import { isBounced } from '../record/bounced.ts';
import type { QueueRecord } from '../record/record.ts';
import { describeDefer, describeOldContext } from './phrases.ts';

/**
 * Do words hold on this head that tell an author what to do: of a bounce, a refusal, a move or a deferral? A status belongs
 * to the commit, so that those of any pull request with this head count.
 */
export function isSpokenFor(record: QueueRecord, head: CommitSha): boolean {
  const isTold = record.entries.some(
    (entry) =>
      entry.head === head &&
      (entry.refusedFor !== null ||
        entry.movedAt !== null ||
        entry.unclear !== undefined ||
        // Told that the context changes: other words under the old one would put the change off for ever.
        (entry.said?.head === head && entry.said.description === describeOldContext()) ||
        isBounced(record, entry)),
  );
  return (
    isTold ||
    record.deferred.some((deferred) => deferred.head === head && describeDefer(deferred.reason) !== null)
  );
}
