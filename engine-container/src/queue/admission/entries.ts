import type { EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { DELETED_AFTER_MS, HEAD_CHANGE_KEEPS_POSITION_MS, WAKE_DELAY_MS_MAX } from '#core/domain/limits.ts';
import { isExempt, priorityOf } from '#core/domain/repos/priority.ts';
import { UNKNOWN } from '#core/domain/result.ts';
import { isInFlight } from '../batches/pipeline.ts';
import {
  type DecisionContext,
  emitEvent,
  entryOf,
  isMergedHere,
  wakeNoLaterThan,
} from '../decision-context.ts';
import { cameAlong } from '../landing/came-along.ts';
import { landLate } from '../landing/given-up.ts';
import { hasLanded, noteMerged } from '../landing/landed.ts';
import { alarmOutsider, judgeHead, noteOutsider, takeBackForeign } from '../landing/merged-outside.ts';
import { isMarkedMerged } from '../landing/proof.ts';
import { recallStatuses } from '../landing/recall.ts';
import { mayBeTwinOfLanding } from '../landing/twins.ts';
import { noteArrival } from '../policy/fanout-choice.ts';
import { keepSignals } from '../policy/signals.ts';
import { bounceOf, isBounced } from '../record/bounced.ts';
import { newcomersOf } from '../record/bounds.ts';
import { deferralOf, isOfHead } from '../record/deferral.ts';
import type { Departure } from '../record/landing-state.ts';
import { authored, comparePositions, createEntry, type QueueEntry } from '../record/queue-entry.ts';
import type { Reread } from '../record/recall-state.ts';
import type { QueueRecord } from '../record/record.ts';
import type { PullRequestView } from '../snapshot.ts';
import { blamesHead, sayAsideAgain, sayDeferred } from '../words/deferral-words.ts';
import { leaveQueue } from '../words/departure.ts';
import { describeDefer, describeEarlierBounce, describeOldHead, isRefusalForNow } from '../words/phrases.ts';
import { sayError } from '../words/wish-status.ts';
import { noteAsked } from './changed-since.ts';
import { tellKnownVerdict } from './known-verdict.ts';
import { forgetTried, noticeMovedHead, sayMoved } from './moved-heads.ts';
import type { Scheduled } from './readings.ts';
import { noteReplaced } from './replaced-schedule.ts';

/** How long a head that cannot be read after a start of the engine holds up the others. */
const SILENT_HOLD_MS = 2 * 60_000;
/** In no list, and each reading of it fails or is a 404, for this long: it leaves the queue. */
const UNREAD_LEAVES_AFTER_MS = 30 * 60_000;

/** Brings the queue up to date with what the forge shows: who is scheduled on which head, who left (A18, A19, A30). */
export function syncQueue(pass: DecisionContext): void {
  const { pulls } = pass.s;
  // A look at what is in flight carries an older list: it would bring back what has landed since.
  if (!pass.s.full || !pulls.known) return;
  const open = new Set<PullRequestNumber>();
  delete pass.record.hasLeftOut;
  const newcomers = newcomersOf(pass, pulls.value);
  // Of thousands that are open, or in the queue, none is searched for in it.
  const queued = new Map(pass.record.entries.map((entry) => [entry.pr, entry]));
  for (const view of pulls.value) {
    const { number } = view.pull;
    open.add(number);
    if (hasLanded(pass.record, number) || !view.schedule.known) continue;
    const entry = queued.get(number);
    if (entry !== undefined) forgetAbsence(entry);
    if (view.schedule.value.kind === 'none' || view.pull.draft) {
      if (entry !== undefined) leaveQueue(pass, entry, view.pull.draft ? 'draft' : cancellationOf(pass));
    } else if (entry !== undefined || newcomers.has(number)) {
      if (view.schedule.value.kind === 'moved' || isUnseenAfterReopening(entry, view.schedule.value))
        noticeMovedHead(pass, entry, view, view.schedule.value);
      else bindHead(pass, entry, view, view.schedule.value);
      keepFacts(pass, entry ?? entryOf(pass.record, number), view);
    }
    recallStatuses(pass, view);
  }
  for (const entry of [...pass.record.entries]) {
    if (!open.has(entry.pr)) noticeDeparture(pass, entry);
  }
  pass.record.entries.sort(comparePositions(pass.s.now));
  noticeRead(pass, pulls.value);
}

/** Facts that this look tells of one that is in the queue, beside its schedule and its head. */
function keepFacts(pass: DecisionContext, entry: QueueEntry | undefined, view: PullRequestView): void {
  if (entry === undefined) return;
  keepScheduler(entry, view);
  keepLabels(pass, entry, view);
  keepSignals(pass, entry, view);
}

/** For the receipt: a head that was scheduled again is that of who did it last. */
function keepScheduler(entry: QueueEntry, { pull, schedule }: PullRequestView): void {
  if (!schedule.known || schedule.value.kind === 'none') return;
  const by = entry.head === pull.headSha ? schedule.value.by : undefined;
  if (by === undefined) delete entry.scheduledBy;
  else entry.scheduledBy = by;
}

/** Who switches a queue off has the schedules of those in flight cancelled by its bot. A queue that is deleted is never on again. */
function cancellationOf({ s }: DecisionContext): Departure {
  return s.repo.queueEnabled || s.repo.tombstone ? 'auto_merge_cancelled' : 'cancelled_while_off';
}

/** A label that is taken off stops counting at the next look. */
function keepLabels({ s }: DecisionContext, entry: QueueEntry, { labelled = [] }: PullRequestView): void {
  const priority = priorityOf(s.repo, labelled);
  if (priority === 'normal') delete entry.priority;
  else entry.priority = priority;
  if (isExempt(s.repo, labelled)) entry.isExempt = true;
  else delete entry.isExempt;
}

/**
 * A record that is new knows of no status on any head. Which pull requests were not read with it is kept: each waits
 * alone until it is, and no other for it.
 */
function noticeRead({ record, s }: DecisionContext, views: readonly PullRequestView[]): void {
  if (!s.botLogin.known) return;
  if (record.reread !== undefined) advanceReread(record, record.reread, views, s);
  const unread = views.filter((view) => !isRead(view)).map((view) => view.pull.number);
  const waiting = record.rebuilding ? unread : unread.filter((pr) => record.unread?.includes(pr));
  record.rebuilding = false;
  if (waiting.length > 0) record.unread = waiting;
  else delete record.unread;
}

/**
 * A head that could not be read may wear a success of a record that came later. While its pull request is scheduled it holds up
 * the others for `SILENT_HOLD_MS`; the pull request itself is admitted once the head was read.
 */
function advanceReread(
  record: QueueRecord,
  { untried }: Reread,
  views: readonly PullRequestView[],
  { now, tried }: Pick<DecisionContext['s'], 'now' | 'tried'>,
): void {
  const open = views.map(({ pull }) => pull.number);
  const awaited = new Set(untried ?? open);
  const left = open.filter((pr) => awaited.has(pr) && tried?.has(pr) !== true);
  if (left.length > 0) record.reread = { untried: left };
  else delete record.reread;
  const silent = views.filter(
    ({ pull: { number: pr }, statuses }) => awaited.has(pr) && !left.includes(pr) && statuses?.known !== true,
  );
  if (silent.length === 0) return;
  const until = now + SILENT_HOLD_MS;
  const heads = silent.map(({ pull }) => ({
    pr: pull.number,
    head: pull.headSha,
    mayStand: true as const,
    until,
  }));
  const others = (record.recallHeads ?? []).filter(
    ({ pr, until }) => until === undefined || !silent.some(({ pull }) => pull.number === pr),
  );
  record.recall = [...new Set([...(record.recall ?? []), ...heads.map(({ pr }) => pr)])];
  record.recallHeads = [...others, ...heads];
}

function isRead({ schedule, statuses }: PullRequestView): boolean {
  return schedule.known && (schedule.value.kind === 'none' || statuses?.known === true);
}

/** A head that the queue never saw under this schedule: nothing says that the schedule was made for it. */
function isUnseenAfterReopening(entry: QueueEntry | undefined, schedule: Scheduled): boolean {
  return entry === undefined && schedule.kind === 'bound' && schedule.isReopened === true;
}

function bindHead(
  pass: DecisionContext,
  entry: QueueEntry | undefined,
  view: PullRequestView,
  schedule: Scheduled,
): void {
  const { pull } = view;
  if (entry === undefined) return enterQueue(pass, pull, schedule);
  entry.title = pull.title;
  Object.assign(entry, authored(pull));
  if (entry.head === pull.headSha && entry.scheduleId === schedule.id) return;
  const movedUnderIt = entry.head !== pull.headSha && entry.scheduleId === schedule.id;
  const isStale = movedUnderIt || (entry.movedAt !== null && entry.staleScheduleId === schedule.id);
  // Scheduled after the push of this head: what was seen before was a list that lagged behind.
  const isForHead = schedule.kind === 'bound' && schedule.isPushedBefore === true;
  if (isStale && !isForHead) {
    // The head moved under a known schedule, whatever the timeline's late entry for the push makes it look like.
    return noticeMovedHead(pass, entry, view, schedule);
  }
  if (entry.head !== pull.headSha && entry.movedAt === null) {
    // Pushed and scheduled again between two looks: the old head must not keep a status that opens it (D-23).
    sayMoved(pass, entry, describeOldHead());
    emitEvent(pass, 'pr_requeued', entry, 'head_changed');
  }
  const keepsPosition = entry.movedAt === null || pass.s.now - entry.movedAt <= HEAD_CHANGE_KEEPS_POSITION_MS;
  if (!keepsPosition) entry.queuedAt = schedule.at;
  if (entry.head !== pull.headSha || entry.movedAt !== null) {
    forgetTried(entry);
  }
  rebind(pass, entry, pull, schedule);
}

function enterQueue(pass: DecisionContext, pull: PullRequestView['pull'], schedule: Scheduled): void {
  const { number: pr, title, headSha: head } = pull;
  const place = { pr, title, head, scheduleId: schedule.id, queuedAt: schedule.at, ...authored(pull) };
  const entry = { ...createEntry(place), retestAfter: retestAfterBounce(pass, pull) };
  noteAsked(entry, pull, pass.s);
  pass.record.entries.push(entry);
  noteArrival(pass.record, pass.s.now);
  emitEvent(pass, 'pr_queued', entry, null, { scheduledAt: schedule.at });
  sayAsideOnReturn(pass, entry);
  tellKnownVerdict(pass, entry, schedule);
}

/** Scheduled again, it is tried again. */
function rebind(
  pass: DecisionContext,
  entry: QueueEntry,
  pull: PullRequestView['pull'],
  schedule: Scheduled,
): void {
  entry.retestAfter = retestAfterBounce(pass, pull) ?? entry.retestAfter;
  pass.record.deferred = pass.record.deferred.filter(
    (deferred) => deferred.pr !== entry.pr || !isOfHead(deferred),
  );
  // The rules admitted the schedule before: this one may be of another account, or of one whose attempts are spent.
  if (isInFlight(pass.record, entry.pr)) noteReplaced(entry);
  else entry.readyAt = null;
  const wasMoved = entry.movedAt !== null;
  entry.head = pull.headSha;
  entry.scheduleId = schedule.id;
  noteAsked(entry, pull, pass.s);
  entry.movedAt = null;
  entry.staleScheduleId = null;
  delete entry.movedWhy;
  delete entry.isForOtherTarget;
  // Its refusal ends with the schedule that was refused, and stood over the words of what still holds.
  if (entry.refusedFor !== null) sayAsideAgain(pass, entry);
  entry.refusedFor = null;
  delete entry.toldRefusals;
  // Its bounce stands, and words about a move stood over it meanwhile.
  if (wasMoved && isBounced(pass.record, entry))
    sayError(pass, entry, describeEarlierBounce(bounceOf(pass.record, entry)));
  tellKnownVerdict(pass, entry, schedule);
}

/** A bounced head that is scheduled again asks for another try: what failed before is not held against it (D-05). */
function retestAfterBounce({ record, s }: DecisionContext, pull: PullRequestView['pull']): EpochMs | null {
  const isAgain = record.bounced.some((known) => known.pr === pull.number && known.head === pull.headSha);
  return isAgain ? s.now : null;
}

/** A pull request of the queue is not among the open ones of the base: merged, closed or retargeted. */
function noticeDeparture(pass: DecisionContext, entry: QueueEntry): void {
  if (pass.s.gone?.has(entry.pr) === true) return outwaitDeletion(pass, entry);
  const focus = pass.s.focus.get(entry.pr);
  if (focus === undefined) return;
  if (!focus.known) return outwaitSilence(pass, entry);
  forgetAbsence(entry);
  const { pull } = focus.value;
  // Our own landing is judged by its merge commit, not by its absence.
  if (pass.record.batches.some((batch) => batch.landing?.pr === entry.pr) && isMergedHere(pass, pull)) return;
  if (mayBeTwinOfLanding(pass, focus.value)) return;
  if (pull.baseRef !== pass.s.repo.baseBranch) leaveQueue(pass, entry, 'retargeted');
  else if (pull.merged) {
    if (landLate(pass, entry, focus.value) !== 'no') return;
    if (isMarkedMerged(focus.value)) return leaveMarked(pass, entry);
    const along = cameAlong(pass, pull);
    if (along === 'unknown') return wakeNoLaterThan(pass, pass.s.now + WAKE_DELAY_MS_MAX);
    const { statuses = UNKNOWN } = focus.value;
    if (along === 'yes') {
      takeBackForeign(pass, pull, statuses, 'merged_along');
      return leaveAlong(pass, entry);
    }
    alarmOutsider(pass, entry.pr);
    leaveQueue(pass, entry, 'merged_outside_the_queue');
    // No search finds it where its merge made a state that was proven.
    judgeHead(pass, pull, statuses);
    noteOutsider(pass, entry.pr, pull.mergeCommitSha);
  } else if (pull.state === 'closed') leaveQueue(pass, entry, 'closed');
}

/** A pull request that came along names no merge of its own: a base that moves meanwhile, past the queue, is alarmed for itself. */
function leaveAlong(pass: DecisionContext, entry: QueueEntry): void {
  noteMerged(pass.record, entry.pr);
  leaveQueue(pass, entry, 'merged_along');
  noteOutsider(pass, entry.pr, null);
}

/** The base is what it was, so nothing is alarmed, and no search finds what stands on its head. */
function leaveMarked(pass: DecisionContext, entry: QueueEntry): void {
  leaveQueue(pass, entry, 'merged_outside_the_queue', 'merged_outside_the_queue');
  noteOutsider(pass, entry.pr, null);
}

function forgetAbsence(entry: QueueEntry): void {
  delete entry.goneSince;
  delete entry.unreadSince;
}

/** One reading may be a mishap. When it says the same for minutes, while the list is read, the pull request was deleted. */
function outwaitDeletion(pass: DecisionContext, entry: QueueEntry): void {
  entry.goneSince ??= pass.s.now;
  const until = entry.goneSince + DELETED_AFTER_MS;
  if (pass.s.now < until) return wakeNoLaterThan(pass, until);
  leaveQueue(pass, entry, 'deleted');
}

/** No list has it and the forge never shows it: each look would fail on it without an end. Its landing is judged elsewhere. */
function outwaitSilence(pass: DecisionContext, entry: QueueEntry): void {
  if (pass.record.batches.some(({ landing }) => landing?.pr === entry.pr)) return;
  entry.unreadSince ??= pass.s.now;
  const until = entry.unreadSince + UNREAD_LEAVES_AFTER_MS;
  if (pass.s.now < until) return wakeNoLaterThan(pass, until);
  leaveQueue(pass, entry, 'left_the_queue');
}

/** The words of its departure took the place of those that put the blame on no pull request, or that promised another look. */
function sayAsideOnReturn(pass: DecisionContext, entry: QueueEntry): void {
  const deferred = deferralOf(pass.record, entry);
  if (deferred === undefined) return;
  const gaveWay = !blamesHead(deferred.reason) || isRefusalForNow(describeDefer(deferred.reason) ?? '');
  if (gaveWay) sayDeferred(pass, deferred);
}
