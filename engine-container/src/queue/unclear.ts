import { READ_AGAIN_AFTER_MS, UNCLEAR_TOLD_AFTER_MS } from '#core/domain/limits.ts';
import {
  type DecisionContext,
  pollNoLaterThan,
  tellRefusal,
  wakeNoLaterThan,
  wishStatus,
} from './decision-context.ts';
import { describeUnclear } from './describe.ts';
import type { QueueEntry } from './queue-entry.ts';

/**
 * The forge does not answer what admission has to know of this one, while the list is read. Its author is told once. What
 * is asked only because an earlier merge did not come is then asked no longer: the next merge shows whether it was that.
 */
export function awaitAnswer(pass: DecisionContext, entry: QueueEntry): void {
  const { s } = pass;
  if (entry.unclear?.head !== entry.head) entry.unclear = { head: entry.head, since: s.now };
  const until = entry.unclear.since + UNCLEAR_TOLD_AFTER_MS;
  if (s.now < until) return wakeNoLaterThan(pass, until);
  if (entry.toldRefusals?.includes('unclear') !== true) {
    const { pr, head: sha } = entry;
    wishStatus(pass, { pr, sha, state: 'pending', description: describeUnclear(), targetUrl: null });
    tellRefusal(pass, entry, 'unclear');
  }
  if (entry.isBlocked === undefined) return;
  delete entry.isBlocked;
  delete entry.unclear;
}

/**
 * A reading of one pull request failed: it is read once more before others are staged without it. One call that fails
 * must not cost a place in the queue; one pull request that the forge can never read must not hold up the others.
 */
export function mustReadAgain(pass: DecisionContext): boolean {
  const { record, s } = pass;
  const isUnread =
    (record.unread ?? []).length > 0 ||
    (s.pulls.known && s.pulls.value.some(({ schedule }) => !schedule.known)) ||
    record.entries.some(({ unclear }) => unclear !== undefined);
  if (!isUnread) {
    delete record.unreadSince;
    return false;
  }
  record.unreadSince ??= s.now;
  const leftMs = record.unreadSince + READ_AGAIN_AFTER_MS - s.now;
  if (leftMs <= 0) return false;
  pass.refresh = true;
  pollNoLaterThan(pass, leftMs);
  return true;
}
