import { type DecisionContext, entryOf } from '../decision-context.ts';
import type { Landing, TakeBackReason } from '../record/landing-state.ts';
import { isBound } from '../record/queue-entry.ts';
import type { Batch } from '../record/record.ts';

/**
 * May the forge have dropped the schedule without a word? Forgejo drops it before each merge, and a merge fails where the head has moved
 * meanwhile (E21; forge facts, 3.5).
 */
export function isScheduleDoubted(
  { record }: DecisionContext,
  { pr, postedAt }: Landing,
  reason: TakeBackReason,
): boolean {
  if (reason === 'merge_timeout') return true;
  const entry = entryOf(record, pr);
  const goesOn = entry !== undefined && isBound(entry) && entry.movedAt === null;
  return reason === 'candidate_changed' && postedAt !== null && goesOn;
}

/** Asks whether the forge still has the schedule, as often as it takes to learn. */
export function askForSchedule(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const { takeBack, pr } = landing;
  if (takeBack === null) return;
  // A push amid the landing may have moved the head.
  const head = entryOf(pass.record, pr)?.head ?? landing.head;
  // Stored before the question is sent for the first time: a schedule that is newer was made by asking, and one that a
  // person made with the account of the bot while the gate ran is not.
  takeBack.askedAfter ??= newestEntryOf(pass, batch, landing);
  pass.actions.push({ kind: 'probe_schedule', pr, head, scheduleId: takeBack.askedAfter });
}

/** The newest timeline entry by which it is scheduled, as it was last read. */
function newestEntryOf({ record, s }: DecisionContext, batch: Batch, { pr, index }: Landing): number {
  const focus = s.focus.get(pr);
  const reread = focus?.known === true ? focus.value.schedule : null;
  const kept = record.readings.find((reading) => reading.pr === pr)?.schedule;
  const schedule = reread?.known === true ? reread.value : kept;
  if (schedule !== undefined && schedule.kind !== 'none') return schedule.id;
  return entryOf(record, pr)?.scheduleId || (batch.members[index]?.scheduleId ?? 0);
}
