import { PENDING_STATUSES_MAX } from '#core/domain/limits.ts';
import { type DecisionContext, emitEvent, wishStatus } from './decision-context.ts';
import { sayDeferred } from './deferral-words.ts';
import {
  type Departure,
  describeDeparture,
  describeNotAdmitted,
  describeOff,
  isDeparture,
} from './describe.ts';
import { hasLandedHead } from './landed.ts';
import type { QueueEntry } from './queue-entry.ts';
import { isSpokenFor } from './spoken-for.ts';

/**
 * Those without words: `deleted` leaves no head to say it on, `schedule_lost` is said by the end of its landing, and on one
 * that was merged past this queue the words that stand tell whether another queue let it through.
 */
const SILENT = ['deleted', 'schedule_lost', 'merged_outside_the_queue'] as const;

export type LeaveReason = Departure | (typeof SILENT)[number];

/** Takes a pull request out of the queue. Words that promise that the queue goes on with it are replaced on its head. */
export function leaveQueue(pass: DecisionContext, entry: QueueEntry, reason: LeaveReason): void {
  pass.record.entries = pass.record.entries.filter((candidate) => candidate !== entry);
  emitEvent(pass, 'pr_skipped', entry, reason);
  // The words stand on the commit: they are those of another one with this head from now on.
  const heir = pass.record.entries.find(({ head }) => head === entry.head);
  if (heir !== undefined && entry.said?.head === entry.head) heir.said ??= entry.said;
  if (!isSilent(reason) && promisesMore(pass, entry)) wishWords(pass, entry, describeDeparture(reason));
}

function isSilent(reason: LeaveReason): reason is (typeof SILENT)[number] {
  return SILENT.some((each) => each === reason);
}

/** A queue that is off or on hold says so on each head that promises otherwise. */
export function sayOff(pass: DecisionContext): void {
  const { record, s } = pass;
  if (s.repo.queueEnabled) return;
  for (const entry of record.entries) {
    // The rest is said in a later look.
    if (record.pendingStatuses.length >= PENDING_STATUSES_MAX / 2) return;
    if (promisesMore(pass, entry)) wishWords(pass, entry, describeOff());
  }
}

/** Back in the queue, where another check keeps it from being staged, or it still stands aside: its head says so again. */
export function sayReturned(pass: DecisionContext, entry: QueueEntry): void {
  const { pr, head, said, readyAt, scheduleId } = entry;
  if (said?.head !== head || !isDeparture(said.description) || scheduleId === 0) return;
  const deferred = pass.record.deferred.find((each) => each.pr === pr && each.head === head);
  if (deferred !== undefined) sayDeferred(pass, deferred);
  else if (readyAt === null && !isSpokenFor(pass.record, head)) wishWords(pass, entry, describeNotAdmitted());
}

/**
 * Does its head say that the queue goes on with it, and nothing else speaks there? The words of a bounce, a refusal or a
 * conflict stay: they are still true, and that of a bounce is its memory (D-05).
 */
function promisesMore({ record }: DecisionContext, entry: QueueEntry): boolean {
  const { pr, head, said, movedAt } = entry;
  if (said?.head !== head || isDeparture(said.description)) return false;
  if (said.state !== 'pending' && movedAt === null) return false;
  const isShared = record.entries.some((other) => other.head === head && other.pr !== pr);
  // Where a landing ends the last word is its own.
  const isLanding = record.batches.some(({ landing }) => landing?.head === head);
  return !isShared && !isLanding && !hasLandedHead(record, head);
}

function wishWords(pass: DecisionContext, { pr, head }: QueueEntry, description: string): void {
  wishStatus(pass, { pr, sha: head, state: 'pending', description, targetUrl: null });
}
