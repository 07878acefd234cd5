import { type DecisionContext, wakeNoLaterThan } from '../decision-context.ts';
import type { PendingStatus } from '../record/pending-status.ts';

/** Statuses written per pass; the rest follow in the next. */
const STATUS_POSTS_MAX = 20;

/**
 * Writes waiting statuses before anything is staged, which can take many reconciles; first of all what takes back a
 * `success`, which opens a merge as long as it stands (A24).
 */
export function writeWords(pass: DecisionContext): void {
  const { record, actions, s } = pass;
  const rank = (status: PendingStatus): number => (status.takesBack === true ? 0 : 1);
  const due = record.pendingStatuses.filter(({ retryAt = s.now }) => retryAt <= s.now);
  for (const { retryAt = s.now } of record.pendingStatuses)
    if (retryAt > s.now) wakeNoLaterThan(pass, retryAt);
  due.sort((one, other) => rank(one) - rank(other));
  for (const { failures: _, retryAt: __, told: ___, ...status } of due.slice(0, STATUS_POSTS_MAX)) {
    actions.push({ kind: 'post_status', ...status, purpose: 'pending' });
  }
}
