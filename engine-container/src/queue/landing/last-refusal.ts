import { known } from '#core/domain/result.ts';
import { isHeadApproved } from '../admission/admission.ts';
import type { Refusal } from '../admission/admission-facts.ts';
import { refuse } from '../admission/admit-entries.ts';
import { judgeApproval } from '../admission/schedule-breach.ts';
import { startTeardown } from '../batches/end-batch.ts';
import { type DecisionContext, reportCode } from '../decision-context.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Batch } from '../record/record.ts';
import type { FocusView } from '../snapshot.ts';

/** Something that is asked anew right before its `success` could not be read. */
export function isLastUnread(focus: FocusView): boolean {
  const { schedule, opensAnother, approvals, hasOwnPass, isBaseTagged } = focus;
  return [schedule, opensAnother, approvals, hasOwnPass, isBaseTagged].some(
    (asked) => asked?.known === false,
  );
}

/** The forge would merge into the tag (decision 0323). What is proven stays as it is, and lands once the tag is gone. */
export function awaitNoTag(pass: DecisionContext, { isBaseTagged }: FocusView): boolean {
  if (isBaseTagged?.known !== true || !isBaseTagged.value) return false;
  pass.log.push('a tag has the name of the base, and the forge would merge into that tag: nothing lands');
  reportCode(pass, 'branch_name_taken');
  return true;
}

/** The head whose run is all that proves this batch has another verdict by now: a gate run is asked for instead (decision 0193). */
export function giveUpLostPass(pass: DecisionContext, batch: Batch, { hasOwnPass }: FocusView): boolean {
  if (hasOwnPass?.known !== true || hasOwnPass.value) return false;
  pass.log.push('the run of a head that was to prove a landing does not say any more that it passed');
  startTeardown(pass, batch, 'own_run_lost');
  return true;
}

/**
 * Refuses the one that is to land for what was asked anew right before its `success`, and changes without a trace on the pull
 * request: another one with its head was opened, or an approval that the queue itself asks for was deleted (decision 0258).
 */
export function refuseAtLast(
  pass: DecisionContext,
  batch: Batch,
  entry: QueueEntry,
  focus: FocusView,
): boolean {
  const reason = refusalAtLast(pass, entry, focus);
  if (reason === null) return false;
  refuse(pass, entry, reason);
  // What was read of it before would admit it again.
  pass.record.readings = pass.record.readings.filter(({ pr }) => pr !== entry.pr);
  batch.fates.push({ pr: entry.pr, action: 'refused', reason });
  startTeardown(pass, batch, 'candidate_changed');
  return true;
}

function refusalAtLast(
  { s }: DecisionContext,
  { scheduledBy }: QueueEntry,
  { opensAnother, approvals }: FocusView,
): Refusal | null {
  if (opensAnother?.known === true && opensAnother.value !== null) return opensAnother.value;
  if (approvals?.known !== true || !s.protection.known || s.protection.value === null) return null;
  const { reviews, outside } = approvals.value;
  if (outside !== null && !isHeadApproved(reviews, s.protection.value)) return outside;
  if (scheduledBy === undefined) return null;
  const breach = judgeApproval({ reviews: known(reviews) }, s.repo, scheduledBy);
  return breach === 'unknown' ? null : breach;
}
