import { type CommitStatus, mayOpenMerge } from '#core/domain/forge/forge.ts';
import type { EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { SUCCESS_LATE_MS } from '#core/domain/limits.ts';
import { isLandingHead } from '../batches/pipeline.ts';
import { type DecisionContext, entryOf, wakeNoLaterThan } from '../decision-context.ts';
import { bounceOf, isBounced, rememberBounce } from '../record/bounced.ts';
import { deferralOf } from '../record/deferral.ts';
import { isUnderContext, type PendingStatus } from '../record/pending-status.ts';
import { isBound, type QueueEntry } from '../record/queue-entry.ts';
import { type EarlierHead, unreadStanding } from '../record/recall-state.ts';
import type { QueueRecord } from '../record/record.ts';
import type { PullRequestView, RecalledHead } from '../snapshot.ts';
import { sayDeferred } from '../words/deferral-words.ts';
import { sayGone } from '../words/gone-words.ts';
import {
  BOUNCED_PREFIX,
  describeDefer,
  describeEarlierBounce,
  describeLanded,
  describeRefusal,
  describeStaleSuccess,
  describeUnbound,
  isDeparture,
  isMoveTold,
  isRefusalForNow,
} from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';
import { watchHead } from './unheard.ts';

/** A head that an earlier record told of and that cannot be read is written over so long after that record was taken over. */
const UNREAD_OVERWRITTEN_AFTER_MS = 2 * 60_000;

/** Statuses under our context that this record knows nothing of: a lost record, or another writer (A7, A24). */
export function recallStatuses(pass: DecisionContext, view: PullRequestView): void {
  if (view.statuses === null || !view.statuses.known) return;
  const { pull } = view;
  const ours = view.statuses.value.find((status) => status.context === pass.record.context);
  if (ours === undefined || isLandingHead(pass.record, pull.headSha)) return;
  if (pass.record.pendingStatuses.some((waiting) => isUnderContext(pass.record, pull.headSha, waiting)))
    return;
  if (isLateMove(pass, pull, ours.description)) return sayOwnWordsAgain(pass, pull, ours);
  const { schedule } = view;
  const isOut = pull.draft || (schedule.known && schedule.value.kind === 'none');
  // A lost record has refused it.
  if (isOut && isRefusalForNow(ours.description)) return sayGone(pass, pull, ours);
  // The words of `describeStaleSuccess` are written while a pull request is out of the queue, as a draft for instance. Once it
  // is back, its own words apply.
  if (ours.state === 'pending' || ours.description === describeStaleSuccess())
    return isOut ? sayGone(pass, pull, ours) : sayOwnWordsAgain(pass, pull, ours);
  if (!pass.s.botLogin.known) return;
  const byBot = ours.creator === pass.s.botLogin.value;
  if (mayOpenMerge(ours)) {
    if (!byBot) pass.alarms.push({ name: 'foreign_status_writer', pr: pull.number });
    wishStatus(pass, {
      pr: pull.number,
      sha: pull.headSha,
      state: 'error',
      description: describeOwnWords(pass, pull),
      targetUrl: null,
      takesBack: true,
    });
  }
  if (byBot && ours.description.startsWith(BOUNCED_PREFIX)) rememberOwnBounce(pass, view, ours);
}

/** The words of a bounce are its memory (D-05): they count for the schedule that stood when they were written. */
function rememberOwnBounce(
  { record }: DecisionContext,
  { pull, schedule }: PullRequestView,
  { createdAt }: CommitStatus,
): void {
  if (!schedule.known || schedule.value.kind !== 'bound' || createdAt < schedule.value.at) return;
  rememberBounce(record, { pr: pull.number, head: pull.headSha, scheduleId: schedule.value.id });
}

/** The head is said to have moved away from its schedule, which holds for it by now. */
function isLateMove({ record }: DecisionContext, pull: PullRequestView['pull'], shown: string): boolean {
  const entry = entryOf(record, pull.number);
  return isMoveTold(shown) && entry?.head === pull.headSha && isBound(entry) && entry.movedAt === null;
}

/**
 * A write without an answer may be carried out after the one that followed it, and its words then stand: the author of one
 * that was bounced, refused or set aside would read that it is tested again.
 */
function sayOwnWordsAgain(
  pass: DecisionContext,
  { number: pr, headSha: sha }: PullRequestView['pull'],
  { state, description: shown }: CommitStatus,
): void {
  const { record } = pass;
  const [entry, ...others] = record.entries.filter(({ head }) => head === sha);
  // Of a head that several have, what stands may be the words of another; that a success does not hold is said of none.
  if (entry?.pr !== pr || (others.length > 0 && shown !== describeStaleSuccess())) return;
  // A lost record has said them: `replaceOldWords` ends those of a pause or a wait that is over. Or the word that it left came
  // after the one that it is back.
  const isUnknown = entry.said?.head !== sha || (isDeparture(shown) && !isDeparture(entry.said.description));
  if (state === 'pending' && isUnknown) entry.said = { head: sha, state, description: shown };
  if (isMoveTold(shown)) entry.said = { head: sha, state: 'error', description: shown };
  const words = describeWhyOut(record, entry);
  if (words !== null)
    return wishStatus(pass, { pr, sha, state: 'error', description: words, targetUrl: null });
  const deferred = deferralOf(record, entry);
  if (deferred !== undefined && describeDefer(deferred.reason) !== shown) sayDeferred(pass, deferred);
}

/** The words of one that was bounced or refused, or whose schedule does not hold for its head; null: it is none of these. */
function describeWhyOut(record: QueueRecord, entry: QueueEntry): string | null {
  if (isBounced(record, entry)) return describeEarlierBounce(bounceOf(record, entry));
  if (entry.refusedFor !== null) return describeRefusal(entry.refusedFor);
  return entry.movedAt !== null ? describeUnbound(entry) : null;
}

/** The queue's own status on this head before another writer wrote over it. */
function describeOwnWords({ record }: DecisionContext, pull: PullRequestView['pull']): string {
  const entry = entryOf(record, pull.number);
  const words = entry?.head === pull.headSha ? describeWhyOut(record, entry) : null;
  if (words !== null) return words;
  // It outlives its schedule. One that is out of the queue is promised no other look by it (decision 0388).
  const deferred = deferralOf(record, { pr: pull.number, head: pull.headSha });
  const told = deferred === undefined ? null : describeDefer(deferred.reason);
  return told === null || (entry === undefined && isRefusalForNow(told)) ? describeStaleSuccess() : told;
}

/**
 * Takes back what stands on the heads of those that a lost record had in flight, whatever has become of them since: who
 * left the queue meanwhile is looked at by no other rule, and a head that was pushed over may be pushed back (A24, A32).
 */
export function recallLost(pass: DecisionContext): void {
  const { record, s } = pass;
  if (record.lateUntil !== undefined && s.now >= record.lateUntil) delete record.lateUntil;
  readRecalled(pass);
  forgetSilent(pass);
  overwriteUnread(pass);
  if (record.recall !== undefined && record.recall.length > 0) return;
  delete record.recall;
  delete record.recallHeads;
  delete record.recallContexts;
  delete record.recalledAt;
}

function readRecalled({ record, s }: DecisionContext): void {
  if (s.recalled === undefined || !s.botLogin.known || record.recall === undefined) return;
  for (const [pr, view] of s.recalled) {
    const others: readonly PullRequestNumber[] = record.recall.filter((waiting) => waiting !== pr);
    // Behind those that no look has come to yet.
    const isStillUnread: boolean = !view.known && others.length < record.recall.length;
    record.recall = isStillUnread ? [...others, pr] : others;
    for (const each of view.known ? view.value : []) recallFrom(record, pr, each, s.botLogin.value);
    if (view.known) watchTold(record, pr, s.now);
  }
}

/** A head whose time is over holds up no other any more: its pull request waits alone until the head is read. */
function forgetSilent(pass: DecisionContext): void {
  const { record, s } = pass;
  const { recall, recallHeads = [] } = record;
  if (recall === undefined) return;
  const isOver = ({ until }: EarlierHead): boolean => until !== undefined && until <= s.now;
  const over = new Set(recallHeads.filter(isOver).map(({ pr }) => pr));
  record.recallHeads = recallHeads.filter((each) => !isOver(each));
  // A head that its repository does not have is no failed call, which would be made again soon.
  for (const { until } of record.recallHeads) if (until !== undefined) wakeNoLaterThan(pass, until);
  const kept = new Set(record.recallHeads.map(({ pr }) => pr));
  record.recall = recall.filter((pr) => !over.has(pr) || kept.has(pr));
}

/**
 * The word that takes a success back is written wherever an earlier record told that one may stand and it cannot be read.
 * Like any such word it is never dropped, and a person is told where the forge refuses it for long.
 */
function overwriteUnread(pass: DecisionContext): void {
  const { record, s } = pass;
  if (record.recall === undefined) return;
  record.recalledAt ??= s.now;
  const unread = unreadStanding(record, s.now).filter(({ until }) => until === undefined);
  if (unread.length === 0) return;
  const at = record.recalledAt + UNREAD_OVERWRITTEN_AFTER_MS;
  if (s.now < at) return wakeNoLaterThan(pass, at);
  const contexts = new Set([record.context, ...(record.recallContexts ?? [])]);
  for (const { pr, head: sha } of unread) {
    if (isLandingHead(record, sha)) continue;
    for (const context of contexts) {
      const isKnown = record.pendingStatuses.some((each) => each.sha === sha && each.context === context);
      if (!isKnown) takeBack(record, { pr, sha, context }, false);
      watchHead(record, { pr, sha, context, posts: 1 }, s.now);
    }
  }
  record.lateUntil = s.now + SUCCESS_LATE_MS;
  const done = new Set(unread.map(({ pr }) => pr));
  record.recall = record.recall.filter((pr) => !done.has(pr));
}

function takeBack(
  record: QueueRecord,
  head: Pick<PendingStatus, 'pr' | 'sha' | 'context'>,
  isMerged: boolean,
): void {
  const words = isMerged
    ? { state: 'pending' as const, description: describeLanded() }
    : { state: 'error' as const, description: describeStaleSuccess() };
  record.pendingStatuses.push({ ...head, ...words, targetUrl: null, takesBack: true });
}

/** The last post of an earlier record may have had no answer, and be carried out after its head was read here. */
function watchTold(record: QueueRecord, pr: PullRequestNumber, now: EpochMs): void {
  const contexts = record.recallContexts ?? [record.context];
  for (const { pr: each, head: sha, mayStand, until } of record.recallHeads ?? []) {
    if (each !== pr || mayStand !== true || until !== undefined) continue;
    for (const context of contexts) watchHead(record, { pr, sha, context, posts: 1 }, now);
    record.lateUntil = now + SUCCESS_LATE_MS;
  }
}

function recallFrom(
  record: QueueRecord,
  pr: PullRequestNumber,
  { head, merged, statuses }: RecalledHead,
  bot: string,
): void {
  if (isLandingHead(record, head)) return;
  for (const status of statuses) {
    const { context, creator } = status;
    const isKnown = record.pendingStatuses.some(
      (waiting) => waiting.sha === head && waiting.context === context,
    );
    // An earlier record of this address may have had another bot.
    const isOurs = creator === bot || record.recallContexts?.includes(context) === true;
    if (!mayOpenMerge(status) || !isOurs || isKnown) continue;
    takeBack(record, { pr, sha: head, context }, merged);
  }
}
