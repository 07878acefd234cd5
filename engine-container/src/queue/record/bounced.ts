import type { QueueEntry } from './queue-entry.ts';
import type { QueueRecord } from './record.ts';
import type { Bounced } from './tried-heads-state.ts';

/** Heads of one pull request whose bounces are kept beside that of the newest: it may be pushed back to one. */
const EARLIER_HEADS_MAX = 2;

/** A bounce that is read back from a status has no verdict, so a verdict that is already known is kept. */
export function rememberBounce(record: QueueRecord, bounce: Bounced): void {
  const known = bounceOf(record, bounce);
  const again = known?.scheduleId === bounce.scheduleId ? known.again : undefined;
  const { pr, head } = bounce;
  const earlier = record.bounced.filter((each) => each.pr === pr && each.head !== head);
  const forgotten = new Set(earlier.slice(0, Math.max(0, earlier.length - EARLIER_HEADS_MAX)));
  record.bounced = record.bounced.filter((each) => each !== known && !forgotten.has(each));
  record.bounced.push({ verdict: known?.verdict, again, ...bounce });
}

/** The gate's failure of this head, whichever pull request brought it: closed and opened anew it has another number. */
export function failureOf(record: QueueRecord, entry: Pick<QueueEntry, 'pr' | 'head'>): Bounced | undefined {
  const own = bounceOf(record, entry);
  if (own?.verdict !== undefined) return own;
  return record.bounced.findLast(({ head, verdict }) => head === entry.head && verdict !== undefined);
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
