import { type DecisionContext, emitEvent, wakeNoLaterThan } from '../decision-context.ts';
import { bounceOf, isBounced } from '../record/bounced.ts';
import { authored, createEntry, isBound, type QueueEntry } from '../record/queue-entry.ts';
import type { PullRequestView } from '../snapshot.ts';
import { sayDeferred } from '../words/deferral-words.ts';
import { describeEarlierBounce, describeOldHead, describeUnbound } from '../words/phrases.ts';
import { sayError } from '../words/wish-status.ts';
import type { MovedWhy, Scheduled } from './readings.ts';
import { isForOtherTarget } from './renewal.ts';

/** A push whose entry the timeline does not show by then will not be shown: entries are late by seconds (forge facts, 3.4). */
const PUSH_UNTOLD_MS = 120_000;

/** A head that no schedule holds for: it keeps its place, and its status says what renews the schedule. */
export function noticeMovedHead(
  pass: DecisionContext,
  known: QueueEntry | undefined,
  { pull }: PullRequestView,
  schedule: Scheduled,
): void {
  const entry = known ?? enter(pass, pull, schedule);
  const isForOther = isForOtherTarget(schedule);
  const why = judgeWhy(pass, entry, pull.headSha, schedule);
  const isSame = entry.movedAt !== null && entry.head === pull.headSha && known !== undefined;
  if (isSame && isForOther === (entry.isForOtherTarget === true)) return sayWhy(pass, entry, why);
  if (entry.movedAt === null && entry.head !== pull.headSha) sayMoved(pass, entry, describeOldHead());
  entry.head = pull.headSha;
  entry.title = pull.title;
  Object.assign(entry, authored(pull));
  entry.scheduleId = 0;
  entry.movedAt ??= pass.s.now;
  entry.staleScheduleId = schedule.id;
  entry.refusedFor = null;
  delete entry.toldRefusals;
  forgetTried(entry);
  entry.movedWhy = why;
  if (isForOther) entry.isForOtherTarget = true;
  else delete entry.isForOtherTarget;
  sayMoved(pass, entry, describeUnbound(entry));
  if (!isForOther) emitEvent(pass, 'pr_requeued', entry, 'head_changed');
}

/** The push of one that was closed meanwhile has no entry in its timeline, and never gets one. */
function judgeWhy(
  pass: DecisionContext,
  { head, movedAt }: QueueEntry,
  headSha: string,
  schedule: Scheduled,
): MovedWhy {
  const told = schedule.kind === 'moved' ? schedule.why : undefined;
  // For a version before `isForOtherTarget`, which reads this record after a rollback: its words name the step that helps here.
  if (told === 'retargeted') return 'untold';
  // The forge wrote no entry of its push, or has replaced it: none will tell of it.
  if (schedule.kind === 'bound' && schedule.isReopened === true) return 'untold';
  const why = told ?? 'asking';
  if (schedule.push !== undefined || movedAt === null || head !== headSha) return why;
  const until = movedAt + PUSH_UNTOLD_MS;
  if (pass.s.now >= until) return 'untold';
  wakeNoLaterThan(pass, until);
  return why;
}

/** A reading that fails now says nothing new: the words that stand hold until it is known that they do not. */
function sayWhy(pass: DecisionContext, entry: QueueEntry, why: MovedWhy): void {
  if (why === 'asking' || why === entry.movedWhy) return;
  entry.movedWhy = why;
  sayMoved(pass, entry, describeUnbound(entry));
}

function enter(pass: DecisionContext, pull: PullRequestView['pull'], schedule: Scheduled): QueueEntry {
  const { number: pr, title, headSha: head } = pull;
  const entry = {
    ...createEntry({ pr, title, head, scheduleId: 0, queuedAt: schedule.at, ...authored(pull) }),
    movedAt: pass.s.now,
    staleScheduleId: schedule.id,
  };
  pass.record.entries.push(entry);
  emitEvent(pass, 'pr_queued', entry, null, { scheduledAt: schedule.at });
  return entry;
}

/** Tries with an earlier head say nothing about this one. */
export function forgetTried(entry: QueueEntry): void {
  entry.readyAt = null;
  entry.retestAfter = null;
  entry.passedOnStaleBase = false;
  delete entry.timesHeldBack;
  delete entry.timesSetAside;
  delete entry.stagingTries;
  delete entry.mergeTimedOut;
  delete entry.isBlocked;
  entry.failureProbability = null;
}

/** Words about a move, on a head that others in the queue may have too: what is said of them is said over them again. */
export function sayMoved(pass: DecisionContext, entry: QueueEntry, description: string): void {
  sayError(pass, entry, description);
  // What was said of this head before stands there no longer: should the head come back, it is tried and told anew.
  pass.record.deferred = pass.record.deferred.filter(
    ({ pr, head }) => pr !== entry.pr || head !== entry.head,
  );
  const isOther = ({ pr, head }: Pick<QueueEntry, 'pr' | 'head'>): boolean =>
    pr !== entry.pr && head === entry.head;
  const others = pass.record.entries.filter(isOther);
  for (const other of others) {
    other.refusedFor = null;
    // Where it stands is said again.
    delete other.said;
  }
  // The memory of one that has left the queue says nothing any more.
  const staying = new Set(others.map(({ pr }) => pr));
  for (const deferred of pass.record.deferred.filter(isOther))
    if (staying.has(deferred.pr)) sayDeferred(pass, deferred);
  const unbound = others.find((other) => !isBound(other));
  if (unbound !== undefined) sayError(pass, unbound, describeUnbound(unbound));
  const bounced = others.find((other) => isBounced(pass.record, other));
  if (bounced !== undefined) sayError(pass, bounced, describeEarlierBounce(bounceOf(pass.record, bounced)));
}
