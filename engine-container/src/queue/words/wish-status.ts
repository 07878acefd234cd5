import { type DecisionContext, entryOf } from '../decision-context.ts';
import type { PendingStatus } from '../record/pending-status.ts';
import type { QueueEntry } from '../record/queue-entry.ts';

/** Queues a status; a newer wish for the same head replaces an older one that was not written yet. */
export function wishStatus(pass: DecisionContext, status: Omit<PendingStatus, 'context'>): void {
  const { context, pendingStatuses } = pass.record;
  const isReplaced = (waiting: PendingStatus): boolean =>
    waiting.sha === status.sha && waiting.context === context;
  const entry = entryOf(pass.record, status.pr);
  if (entry?.head === status.sha)
    entry.said = { head: status.sha, state: status.state, description: status.description };
  forgetWordsOfTwins(pass, status);
  const before = pendingStatuses.find((waiting) => isReplaced(waiting) && waiting.takesBack === true);
  pass.record.pendingStatuses = pendingStatuses.filter((waiting) => !isReplaced(waiting));
  pass.record.pendingStatuses.push({ ...status, context, ...(before === undefined ? {} : triesOf(before)) });
}

export function sayError(
  pass: DecisionContext,
  { pr, head: sha }: Pick<QueueEntry, 'pr' | 'head'>,
  description: string,
): void {
  wishStatus(pass, { pr, sha, state: 'error', description, targetUrl: null });
}

/** The refusal that another pull request with this head was told stands there no more: it is told anew if it comes again. */
function forgetWordsOfTwins(
  { record }: DecisionContext,
  { pr, sha, description }: Omit<PendingStatus, 'context'>,
): void {
  for (const entry of record.entries) {
    const { refusedBefore: told } = entry;
    if (entry.pr !== pr && told?.head === sha && told.says !== description) delete entry.refusedBefore;
  }
}

/** Other words in its place take the same success back, and the forge has failed on them as often. */
function triesOf(waiting: PendingStatus): Partial<PendingStatus> {
  const { pr, sha, context, state, description, targetUrl, ...tries } = waiting;
  return tries;
}
