import { inFlightOf } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { isBounced } from '../record/bounced.ts';
import { deferralsOf, isHeldByForge, isOfBatchAhead, outlastsBase } from '../record/deferral.ts';
import { isBound, type QueueEntry } from '../record/queue-entry.ts';
import { holdAt, isKeptFromStaging } from './holds.ts';

/** Pull requests that may be staged on a base with this tree, in order, and are in no batch already. */
export function readyEntries(pass: DecisionContext, baseTree: string, isOnBatch: boolean): QueueEntry[] {
  const hold = holdAt(pass.record, pass.s.repo, pass.s.now);
  return waitingEntries(pass, baseTree, isOnBatch).filter((entry) => !isKeptFromStaging(hold, entry));
}

/** The line: these, and those that only a pause or a freeze window holds up. */
export function waitingEntries(pass: DecisionContext, baseTree: string, isOnBatch: boolean): QueueEntry[] {
  const { record, s } = pass;
  const inFlight = inFlightOf(record);
  return record.entries.filter((entry) => {
    if (entry.readyAt === null || !isBound(entry) || inFlight.has(entry.pr)) return false;
    if (entry.contradictedAt !== undefined || isBounced(record, entry)) return false;
    return !deferralsOf(record, entry).some(
      (deferred) =>
        (deferred.baseTree === baseTree || deferred.reason === 'suspect_ahead' || outlastsBase(deferred)) &&
        // The pull request in the way ahead may have become the base: then it is to be said about the base.
        (isOnBatch || !isOfBatchAhead(deferred)) &&
        (deferred.until === null || deferred.until > s.now || isHeldByForge(deferred)),
    );
  });
}
