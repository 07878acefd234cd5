import type { Bounced } from './aside.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { QueueRecord } from './record.ts';

/** A bounce that is read back from a status has no verdict, so a verdict that is already known is kept. */
export function rememberBounce(record: QueueRecord, bounce: Bounced): void {
  const known = bounceOf(record, bounce);
  const again = known?.scheduleId === bounce.scheduleId ? known.again : undefined;
  record.bounced = record.bounced.filter(({ pr }) => pr !== bounce.pr);
  record.bounced.push({ verdict: known?.verdict, again, ...bounce });
}

export function bounceOf(
  record: QueueRecord,
  { pr, head }: Pick<QueueEntry, 'pr' | 'head'>,
): Bounced | undefined {
  return record.bounced.find((known) => known.pr === pr && known.head === head);
}

export function isBounced(record: QueueRecord, { pr, head, scheduleId }: QueueEntry): boolean {
  return record.bounced.some(
    (known) => known.pr === pr && known.head === head && known.scheduleId === scheduleId,
  );
}
