import { isInFlight, isLandingHead, landingOf } from '../batches/pipeline.ts';
import { type DecisionContext, emitEvent } from '../decision-context.ts';
import { hasLandedHead } from '../landing/landed.ts';
import { isStagingStopped } from '../line/holds.ts';
import { bounceOf, isBounced } from '../record/bounced.ts';
import { mustWordsWait } from '../record/bounds.ts';
import { deferralOf } from '../record/deferral.ts';
import type { Departure } from '../record/landing-state.ts';
import { isBound, type QueueEntry, type Said } from '../record/queue-entry.ts';
import type { QueueRecord } from '../record/record.ts';
import type { Snapshot } from '../snapshot.ts';
import { keepsWords, sayDeferred } from './deferral-words.ts';
import { sayTakenBack } from './last-word.ts';
import {
  describeDefer,
  describeDeparture,
  describeEarlierBounce,
  describeLanded,
  describeNotAdmitted,
  describeOff,
  describeUnbound,
  isDeparture,
  isLandingTold,
  isPromise,
  isRefusalForNow,
  isRefusalTold,
} from './phrases.ts';
import { isSpokenFor } from './spoken-for.ts';
import { sayError, wishStatus } from './wish-status.ts';

/** Words of pull requests that left, which are added beside those for hundreds of heads. */
export const DEPARTURES_BESIDE_MAX = 50;
/** A pull request that another required check keeps out of line for so long is told so on its head. */
const NOT_ADMITTED_SAID_MS = 5 * 60_000;

/**
 * Reasons without words: `deleted` leaves no head to say it on, `schedule_lost` is said by the end of its landing, and on one
 * that was merged outside this queue the words that stand tell whether another queue let it through: they are read first.
 */
const SILENT = ['deleted', 'schedule_lost', 'merged_outside_the_queue'] as const;

export type LeaveReason = Departure | (typeof SILENT)[number];
type Told = Parameters<typeof describeDeparture>[0];

/**
 * Takes a pull request out of the queue. Words that promise that the queue goes on with it are replaced on its head.
 *
 * @param words - the reason that its head is told; null: none. Given where a silent reason has to be said.
 */
export function leaveQueue(
  pass: DecisionContext,
  entry: QueueEntry,
  reason: LeaveReason,
  words: Told | null = leavesSilently(reason) ? null : reason,
): void {
  const { record } = pass;
  record.entries = record.entries.filter((candidate) => candidate !== entry);
  emitEvent(pass, 'pr_skipped', entry, reason);
  noteLeft(pass, entry, reason);
  if (entry.said?.head !== entry.head) return;
  // The words stand on the commit: they are those of another one with this head from now on.
  const [heir, ...others] = record.entries.filter(({ head }) => head === entry.head);
  if (heir !== undefined) return inherit(pass, heir, others, entry.said);
  if (words === null || (mustDepartureWait(record) && !isInFlight(record, entry.pr))) return;
  // That the queue is off says nothing of what its author has to do when it is on.
  if (isUntrue(pass, entry, true)) wishWords(pass, entry, describeDeparture(words));
  else if (saysOverLanding(record, entry)) wishWords(pass, entry, describeLanded());
}

/**
 * Another one with its head has landed, and was told so there; this one was in line once more, and its words stand over that. The last
 * word on such a head is that of the landing. Where that one was not as it was proven the queue has stopped, and says so.
 */
function saysOverLanding(record: QueueRecord, { head, said }: QueueEntry): boolean {
  if (said === undefined || said.head !== head || record.halted !== null) return false;
  return isPromise(said.description) && hasLandedHead(record, head) && !isLandingHead(record, head);
}

/**
 * Where a landing ends the last word is its own. The one that took its success back goes at once where it promises that it is tested
 * again; that the queue is off is no promise.
 */
function noteLeft(pass: DecisionContext, { pr, head }: QueueEntry, reason: LeaveReason): void {
  const landing = landingOf(pass.record);
  if (landing?.pr !== pr || landing.head !== head || leavesSilently(reason)) return;
  landing.left = reason;
  const { takeBack } = landing;
  if (takeBack !== null && takeBack.reason !== 'queue_disabled') sayTakenBack(pass, landing, takeBack.reason);
}

function inherit(pass: DecisionContext, heir: QueueEntry, others: readonly QueueEntry[], said: Said): void {
  if (heir.said?.head !== heir.head) heir.said = said;
  const left = [heir, ...others];
  // The refusal of the one that left stands over the bounce of another one.
  const isOver = isRefusalTold(said.description) && left.every(({ refusedFor }) => refusedFor === null);
  const bounced = left.find((other) => isBounced(pass.record, other));
  if (isOver && bounced !== undefined)
    return sayError(pass, bounced, describeEarlierBounce(bounceOf(pass.record, bounced)));
  // The other one's words stand over what the author of this one has to do, and no later look says that again.
  const description = describeUnbound(heir);
  if (said.description === description || left.some(({ movedAt }) => movedAt === null)) return;
  sayError(pass, heir, description);
}

/** Where many leave at once, the patrol tells the rest: with many open it comes in a day. Of those in flight there are few. */
function mustDepartureWait(record: QueueRecord): boolean {
  if (!mustWordsWait(record)) return false;
  const told = record.pendingStatuses.filter(({ description }) => isDeparture(description));
  return told.length >= DEPARTURES_BESIDE_MAX;
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
    if (isUntrue(pass, entry) && !isSpokenForByOther(pass, entry)) wishWords(pass, entry, describeOff());
  }
}

/** Words on its head say more of another pull request with it. */
function isSpokenForByOther({ record }: DecisionContext, { pr, head }: QueueEntry): boolean {
  const others = record.entries.filter((other) => other.head === head && other.pr !== pr);
  return others.length > 0 && isSpokenFor(record, head);
}

/** Back in the queue, and still aside: its head says so again. In line no more, for another check keeps it out: it says that. */
export function sayKeptOut(pass: DecisionContext, entry: QueueEntry): void {
  const { head, said } = entry;
  if (!isBound(entry)) return;
  if (said?.head !== head) return sayLongWait(pass, entry);
  const hasLeft = isDeparture(said.description);
  const deferred = deferralOf(pass.record, entry);
  if (hasLeft && deferred !== undefined && describeDefer(deferred.reason) !== null)
    return sayDeferred(pass, deferred);
  if (!isKeptOut(pass, entry)) return;
  // The landing that is told was that of an earlier one with this head; or no refusal holds, and the one that is told has ended.
  const isOver = isLandingTold(said.description) || (isRefusalTold(said.description) && !keepsWords(entry));
  const isOutdated = hasLeft || isOver || (said.state === 'pending' && isPromise(said.description));
  if (isOutdated) wishWords(pass, entry, describeNotAdmitted());
}

/**
 * Another required check keeps it out for long, and nothing was said on its head yet: its author would see a status that never
 * comes. Checks that end within minutes cost no status.
 */
function sayLongWait(pass: DecisionContext, entry: QueueEntry): void {
  const { record, s } = pass;
  const { pr, head, queuedAt } = entry;
  if (s.now - queuedAt < NOT_ADMITTED_SAID_MS || !isKeptOut(pass, entry)) return;
  if (isStagingStopped(record) || deferralOf(record, entry) !== undefined) return;
  // A status belongs to the commit: of several with one head, another rule says which of them speaks.
  if (record.entries.some((other) => other.pr !== pr && other.head === head)) return;
  wishWords(pass, entry, describeNotAdmitted());
}

/** Another required check keeps it out of line, as far as this look tells, and no other words hold on its head. */
function isKeptOut({ record, s }: DecisionContext, { pr, head, readyAt }: QueueEntry): boolean {
  if (readyAt !== null || !isAdmissionRead(s) || isSpokenFor(record, head)) return false;
  // The rule asks for the new context of the queue, which is no check of another.
  if (record.context !== s.repo.statusContext) return false;
  // The last word on this head is that of another one with it, which lands or has landed.
  if (isLandingHead(record, head) || hasLandedHead(record, head)) return false;
  return !isInFlight(record, pr);
}

/** Who may be staged was decided in this look. */
function isAdmissionRead({ full, pulls, protection, base }: Snapshot): boolean {
  return full && pulls.known && protection.known && protection.value !== null && base.known;
}

/**
 * Does its head say that the queue goes on with it, or that a queue is off which is on? The words of a bounce or a refusal stay:
 * they are still true, and that of a bounce is its memory (D-05). Of one that leaves, a refusal that promises another look does not.
 */
function isUntrue(
  { record, s }: DecisionContext,
  { head, said, movedAt }: QueueEntry,
  leaves = false,
): boolean {
  if (said?.head !== head) return false;
  const isOver = (leaves || s.repo.queueEnabled) && said.description === describeOff();
  if (isDeparture(said.description) && !isOver) return false;
  const isForNow = leaves && isRefusalForNow(said.description);
  if (said.state !== 'pending' && movedAt === null && !isForNow) return false;
  // Where a landing ends the last word is its own.
  return !isLandingHead(record, head) && !hasLandedHead(record, head);
}

function wishWords(pass: DecisionContext, { pr, head }: QueueEntry, description: string): void {
  wishStatus(pass, { pr, sha: head, state: 'pending', description, targetUrl: null });
}
