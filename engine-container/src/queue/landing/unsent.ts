import type { Action } from '../actions.ts';
import type { QueueRecord } from '../record/record.ts';

/**
 * A `success` that was decided on and is known not to have been sent, because the time of its reconcile was over: none of it can be
 * carried out late, and the next look asks for it again.
 */
export function forgetUnsent(record: QueueRecord, action: Action): QueueRecord {
  if (action.kind !== 'post_status' || action.purpose !== 'landing') return record;
  const batches = record.batches.map((batch) => {
    const { landing } = batch;
    if (landing?.head !== action.sha || landing.asked === undefined || landing.asked === 0) return batch;
    const nudges = landing.postedAt === null ? landing.nudges : Math.max(0, landing.nudges - 1);
    return { ...batch, landing: { ...landing, nudges, asked: landing.asked - 1 } };
  });
  return { ...record, batches };
}
