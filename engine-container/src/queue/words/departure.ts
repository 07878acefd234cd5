import { isInFlight, isLandingHead, landingOf } from '../batches/pipeline.ts';
import { type DecisionContext, emitEvent } from '../decision-context.ts';
import { hasLandedHead } from '../landing/landed.ts';
import { mustWordsWait } from '../record/bounds.ts';
import { deferralOf } from '../record/deferral.ts';
import type { Departure } from '../record/landing-state.ts';
import { isBound, type QueueEntry, type Said } from '../record/queue-entry.ts';
import type { Snapshot } from '../snapshot.ts';
import { keepsWords, sayDeferred } from './deferral-words.ts';
import {
  describeDefer,
  describeDeparture,
  describeNotAdmitted,
  describeOff,
  isDeparture,
  isPromise,
  isRefusalTold,
} from './phrases.ts';
import { isSpokenFor } from './spoken-for.ts';
import { wishStatus } from './wish-status.ts';

/**
 * Reasons without words: `deleted` leaves no head to say it on, `schedule_lost` is said by the end of its landing, and on one
 * that was merged outside this queue the words that stand tell whether another queue let it through.
 */
const SILENT = ['deleted', 'schedule_lost', 'merged_outside_the_queue'] as const;

export type LeaveReason = Departure | (typeof SILENT)[number];

/** Takes a pull request out of the queue. Words that promise that the queue goes on with it are replaced on its head. */
export function leaveQueue(pass: DecisionContext, entry: QueueEntry, reason: LeaveReason): void {
  const { record } = pass;
  record.entries = record.entries.filter((candidate) => candidate !== entry);
  emitEvent(pass, 'pr_skipped', entry, reason);
  noteLeft(pass, entry, reason);
  if (entry.said?.head !== entry.head) return;
  // The words stand on the commit: they are those of another one with this head from now on.
  const heir = record.entries.find(({ head }) => head === entry.head);
  if (heir !== undefined) return inherit(heir, entry.said);
  // Where many leave at once, the patrol tells the rest.
  if (leavesSilently(reason) || mustWordsWait(record)) return;
  // That the queue is off says nothing of what its author has to do when it is on.
  if (isUntrue(pass, entry, true)) wishWords(pass, entry, describeDeparture(reason));
}

/** Where a landing ends the last word is its own. */
function noteLeft({ record }: DecisionContext, { pr, head }: QueueEntry, reason: LeaveReason): void {
  const landing = landingOf(record);
  if (landing?.pr === pr && landing.head === head && !leavesSilently(reason)) landing.left = reason;
}

function inherit(heir: QueueEntry, said: Said): void {
  if (heir.said?.head !== heir.head) heir.said = said;
}

function leavesSilently(reason: LeaveReason): reason is (typeof SILENT)[number] {
  return SILENT.some((each) => each === reason);
}

/** A queue that is off or on hold says so on each head that promises otherwise. */
export function sayOff(pass: DecisionContext): void {
  const { record, s } = pass;
  if (s.repo.queueEnabled) return;
  for (const entry of record.entries) {
    if (mustWordsWait(record)) return;
    if (isUntrue(pass, entry) && !isHeldByOther(pass, entry)) wishWords(pass, entry, describeOff());
  }
}

/** Words on its head say more of another pull request with it. */
function isHeldByOther({ record }: DecisionContext, { pr, head }: QueueEntry): boolean {
  const others = record.entries.filter((other) => other.head === head && other.pr !== pr);
  return others.length > 0 && isSpokenFor(record, head);
}

/** Back in the queue, and still aside: its head says so again. In line no more, for another check keeps it out: it says that. */
export function sayKeptOut(pass: DecisionContext, entry: QueueEntry): void {
  const { pr, head, said, readyAt } = entry;
  if (said?.head !== head || !isBound(entry)) return;
  const hasLeft = isDeparture(said.description);
  const deferred = deferralOf(pass.record, entry);
  if (hasLeft && deferred !== undefined && describeDefer(deferred.reason) !== null)
    return sayDeferred(pass, deferred);
  if (readyAt !== null || !isAdmissionRead(pass.s) || isSpokenFor(pass.record, head)) return;
  // The last word on this head is that of another one with it, which lands or has landed.
  if (isLandingHead(pass.record, head) || hasLandedHead(pass.record, head)) return;
  // No refusal holds: the one that is told has ended.
  const isOver = isRefusalTold(said.description) && !keepsWords(entry);
  const isOutdated = hasLeft || isOver || (said.state === 'pending' && isPromise(said.description));
  if (isOutdated && !isInFlight(pass.record, pr)) wishWords(pass, entry, describeNotAdmitted());
}

/** Who may be staged was decided in this look. */
function isAdmissionRead({ full, pulls, protection, base }: Snapshot): boolean {
  return full && pulls.known && protection.known && protection.value !== null && base.known;
}

/**
 * Does its head say that the queue goes on with it, or that a queue is off which is on? The words of a bounce, a refusal or a
 * conflict stay: they are still true, and that of a bounce is its memory (D-05).
 */
function isUntrue(
  { record, s }: DecisionContext,
  { head, said, movedAt }: QueueEntry,
  leaves = false,
): boolean {
  if (said?.head !== head) return false;
  const isOver = (leaves || s.repo.queueEnabled) && said.description === describeOff();
  if (isDeparture(said.description) && !isOver) return false;
  if (said.state !== 'pending' && movedAt === null) return false;
  // Where a landing ends the last word is its own.
  return !isLandingHead(record, head) && !hasLandedHead(record, head);
}

function wishWords(pass: DecisionContext, { pr, head }: QueueEntry, description: string): void {
  wishStatus(pass, { pr, sha: head, state: 'pending', description, targetUrl: null });
}
