import { type DecisionContext, wakeNoLaterThan } from '../decision-context.ts';
import { isStuck, nextStuck } from '../landing/standing.ts';
import type { PendingStatus } from '../record/pending-status.ts';

/** Statuses written per pass; the rest follow in the next. */
const STATUS_POSTS_MAX = 20;

/**
 * Writes waiting statuses before anything is staged, which can take many reconciles; first of all what takes back a
 * `success`, which opens a merge as long as it stands (A24).
 */
export function writeWords(pass: DecisionContext): void {
  const { record, s } = pass;
  const rank = (status: PendingStatus): number => (status.takesBack === true ? 0 : 1);
  const due = record.pendingStatuses.filter(
    (status) => !isStuck(status) && (status.retryAt ?? s.now) <= s.now,
  );
  for (const { retryAt = s.now } of record.pendingStatuses)
    if (retryAt > s.now) wakeNoLaterThan(pass, retryAt);
  due.sort((one, other) => rank(one) - rank(other));
  for (const status of due.slice(0, STATUS_POSTS_MAX)) post(pass, status);
}

/** Last of all: it was tried again and again, and a head that takes all the time of a call must not keep others from being staged. */
export function retryStuck(pass: DecisionContext): void {
  const stuck = nextStuck(pass.record.pendingStatuses, pass.s.now);
  if (stuck !== null) post(pass, stuck);
}

function post({ actions }: DecisionContext, pending: PendingStatus): void {
  const { failures: _, retryAt: __, told: ___, ...status } = pending;
  actions.push({ kind: 'post_status', ...status, purpose: 'pending' });
}
