import { UNCLEAR_TOLD_AFTER_MS } from '#core/domain/limits.ts';
import { type DecisionContext, tellRefusal, wakeNoLaterThan, wishStatus } from './decision-context.ts';
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
