import { READ_AGAIN_AFTER_MS, READINGS_AGREE_AFTER_MS, UNCLEAR_TOLD_AFTER_MS } from '#core/domain/limits.ts';
import { type DecisionContext, pollNoLaterThan, tellRefusal, wakeNoLaterThan } from '../decision-context.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import { describeUnclear } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';

/**
 * The forge answers the list, and not the requests about this pull request. Its author is told once. Requests that are made
 * only because an earlier merge did not come then end: the next merge shows whether a rule was the cause.
 */
export function outwaitAnswer(pass: DecisionContext, entry: QueueEntry): void {
  const { s } = pass;
  if (entry.unclear?.head !== entry.head) entry.unclear = { head: entry.head, since: s.now };
  const until = entry.unclear.since + UNCLEAR_TOLD_AFTER_MS;
  if (s.now < until) return wakeNoLaterThan(pass, until);
  if (entry.toldRefusals?.includes('unclear') !== true) {
    const { pr, head: sha } = entry;
    // A new record that has not read this head does not know whether the memory of a bounce stands there (D-05).
    const isUnread = pass.record.unread?.includes(pr) === true;
    if (!isUnread)
      wishStatus(pass, { pr, sha, state: 'pending', description: describeUnclear(), targetUrl: null });
    tellRefusal(pass, entry, 'unclear');
  }
  if (entry.isBlocked === undefined) return;
  delete entry.isBlocked;
  delete entry.unclear;
}

/** Keeps the time of the first failed reading while one still fails, and forgets it once none does: each failure has its own second try. */
export function noteReadings({ record, s }: DecisionContext): void {
  // A look at what is in flight carries an older list.
  if (!s.full) return;
  const isUnread =
    (record.unread ?? []).length > 0 ||
    (s.pulls.known && s.pulls.value.some(({ schedule }) => !schedule.known)) ||
    record.entries.some(({ unclear }) => unclear !== undefined);
  if (isUnread) record.unreadSince ??= s.now;
  else if (s.pulls.known) delete record.unreadSince;
}

/**
 * True once no second reading is due. One call that fails must not cost a place in the queue: it is made once more before
 * others are staged without it. One pull request that the forge can never read must not hold up the others.
 */
export function awaitReadAgain(pass: DecisionContext): boolean {
  const { unreadSince } = pass.record;
  const leftMs = unreadSince === undefined ? 0 : unreadSince + READ_AGAIN_AFTER_MS - pass.s.now;
  if (leftMs <= 0) return true;
  pass.refresh = true;
  pollNoLaterThan(pass, leftMs);
  return false;
}

/** The list and the reading of one pull request disagree, because readings lag. After a time to agree the list counts. */
export function outwaitAgreement(pass: DecisionContext, entry: QueueEntry): void {
  if (entry.contradictedAt === undefined) return;
  const until = entry.contradictedAt + READINGS_AGREE_AFTER_MS;
  if (pass.s.now < until) wakeNoLaterThan(pass, until);
  else delete entry.contradictedAt;
}
