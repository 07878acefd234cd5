import { type DecisionContext, entryOf } from '../decision-context.ts';
import type { PendingStatus } from '../record/pending-status.ts';

/** Queues a status; a newer wish for the same head replaces an older one that was not written yet. */
export function wishStatus(pass: DecisionContext, status: Omit<PendingStatus, 'context'>): void {
  const { context, pendingStatuses } = pass.record;
  const isReplaced = (waiting: PendingStatus): boolean =>
    waiting.sha === status.sha && waiting.context === context;
  const entry = entryOf(pass.record, status.pr);
  if (entry?.head === status.sha)
    entry.said = { head: status.sha, state: status.state, description: status.description };
  const before = pendingStatuses.find((waiting) => isReplaced(waiting) && waiting.takesBack === true);
  pass.record.pendingStatuses = pendingStatuses.filter((waiting) => !isReplaced(waiting));
  pass.record.pendingStatuses.push({ ...status, context, ...(before === undefined ? {} : triesOf(before)) });
}

/** Other words in its place take the same success back, and the forge has failed on them as often. */
function triesOf(waiting: PendingStatus): Partial<PendingStatus> {
  const { pr, sha, context, state, description, targetUrl, ...tries } = waiting;
  return tries;
}
