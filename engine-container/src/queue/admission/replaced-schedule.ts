import type { DecisionContext } from '../decision-context.ts';
import { outwaitReading } from '../landing/unreadable.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Batch } from '../record/record.ts';
import type { FocusView } from '../snapshot.ts';
import type { Admission } from './admission-facts.ts';

/**
 * A schedule that replaces another while its pull request is in flight: another account may have made it. The gate run goes
 * on, and nothing lands by it before the rules have admitted it as they admitted the one before (decision 0252).
 */
export function noteReplaced(entry: QueueEntry): void {
  entry.isUnjudged = true;
}

/** The rules have answered, whatever else the pull request waits for. */
export function noteJudged(entry: QueueEntry, admission: Admission): void {
  if (admission.kind === 'admitted' || (admission.kind === 'waiting' && admission.reason === 'other_checks'))
    delete entry.isUnjudged;
}

/** Whether a full look has judged the schedule that stands now. */
export function isJudged(
  { scheduleId, isUnjudged }: Pick<QueueEntry, 'scheduleId' | 'isUnjudged'>,
  { schedule }: Pick<FocusView, 'schedule'>,
): boolean {
  const isNew =
    schedule?.known === true && schedule.value.kind === 'bound' && schedule.value.id !== scheduleId;
  return !isNew && isUnjudged !== true;
}

/** True once a full look has judged the schedule that stands now; until then one is asked for. */
export function awaitJudgement(
  pass: DecisionContext,
  batch: Batch,
  entry: QueueEntry,
  focus: Pick<FocusView, 'schedule'>,
): boolean {
  if (isJudged(entry, focus)) return true;
  outwaitReading(pass, batch);
  pass.refresh = true;
  return false;
}
