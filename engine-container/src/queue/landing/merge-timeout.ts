import { MERGE_TIMEOUTS_MAX } from '#core/domain/limits.ts';
import { type DecisionContext, entryOf } from '../decision-context.ts';
import { stageAloneAfterOthers } from '../line/staging-turns.ts';
import type { Landing } from '../record/landing-state.ts';
import type { Batch } from '../record/record.ts';
import { holdBlocked } from './blockers.ts';
import { bounce } from './bounce.ts';
import { holdFork, mayLackForkRight } from './fork-timeout.ts';

/** The forge did not complete the merge in time, and nothing that it tells of blocks it (decision 0011). */
export function countMergeTimeout(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const { record } = pass;
  const earlier = record.mergeTimeoutCounts.find(
    (known) => known.pr === landing.pr && known.head === landing.head,
  );
  const count = (earlier?.count ?? 0) + 1;
  record.mergeTimeoutCounts = record.mergeTimeoutCounts.filter((known) => known.pr !== landing.pr);
  record.mergeTimeoutCounts.push({ pr: landing.pr, head: landing.head, count });
  const entry = entryOf(record, landing.pr);
  if (count < MERGE_TIMEOUTS_MAX) {
    if (entry !== undefined) entry.retestAfter = pass.s.now;
    if (entry !== undefined) stageAloneAfterOthers(pass, entry);
    batch.fates.push({ pr: landing.pr, action: 'requeued', reason: 'merge_timeout' });
    return;
  }
  record.mergeTimeoutCounts = record.mergeTimeoutCounts.filter((known) => known.pr !== landing.pr);
  if (mayLackForkRight(pass, landing)) holdFork(pass, batch, landing);
  else if (mayLackSignature(pass))
    holdBlocked(pass, batch, landing, { kind: 'refused', reason: 'merge_unsigned' });
  else bounce(pass, batch, landing.index, 'merge_timeout', null);
}

/** The forge merges only what it signs, and no API tells whether it can: a merge that never comes is not the change's fault. */
function mayLackSignature({ s }: DecisionContext): boolean {
  return s.protection.known && s.protection.value?.requiresSigned === true;
}
