import { mayOpenMerge, type PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import {
  LANDED_KEPT_MS,
  OUTSIDE_SEARCH_MS,
  OUTSIDERS_MAX,
  STALE_READING_MS,
  WAKE_DELAY_MS_MAX,
  WAKE_DELAY_MS_MIN,
} from '#core/domain/limits.ts';
import { isLandingHead } from '../batches/pipeline.ts';
import { type DecisionContext, emitEvent, raiseStandstill, wakeNoLaterThan } from '../decision-context.ts';
import type { OutsideMove } from '../record/merged-outside-state.ts';
import type { QueueRecord } from '../record/record.ts';
import { isLifted } from '../record/stop-state.ts';
import type { OutsidePull } from '../snapshot.ts';
import { sayGone } from '../words/gone-words.ts';
import { describeDeparture } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';
import { hasEverLanded, hasLandedHead, noteMerged } from './landed.ts';
import { isWatched } from './unheard.ts';

/** The base moved from one tip to another, and what is on it now is not verified: the merged pull requests are looked for. */
export function searchOutside(pass: DecisionContext, from: CommitSha, to: CommitSha): void {
  const { record, s } = pass;
  const before = record.outsideMove;
  const own = [...(before?.own ?? []), ...(record.landed ?? []).map(({ pr }) => pr)];
  record.outsideMove = { from: before?.from ?? from, to, since: s.now, own: [...new Set(own)] };
  wakeNoLaterThan(pass, s.now + WAKE_DELAY_MS_MIN);
}

/** One event for each pull request, whichever was seen first: that it left the queue, or that it was merged. */
export function noteOutsider(
  { record, s }: DecisionContext,
  pr: PullRequestNumber,
  merge: CommitSha | null,
): void {
  const outsider = { pr, at: s.now, ...(merge === null ? {} : { merge }) };
  record.outside = [...(record.outside ?? []), outsider].slice(-OUTSIDERS_MAX);
}

/**
 * A pull request of the queue was merged outside it, and the base moved by that: one fact, alarmed once, whichever is seen first. Seen
 * in one look, the alarm names who.
 */
export function alarmOutsider({ record, alarms }: DecisionContext, pr: PullRequestNumber): void {
  const unnamed = alarms.findIndex((alarm) => alarm.name === 'unverified_landing' && alarm.pr === null);
  if (unnamed >= 0) alarms[unnamed] = { name: 'unverified_landing', pr };
  else if (record.outsideMove === undefined) alarms.push({ name: 'unverified_landing', pr });
}

export function alarmBase(pass: DecisionContext, sha: CommitSha): void {
  const { record, alarms, log } = pass;
  log.push('the base moved without the queue');
  const isNamed = record.outside?.some(({ merge }) => merge === sha) === true;
  if (!isNamed) alarms.push({ name: 'unverified_landing', pr: null });
}

/** Lists the pull requests whose merges were found. A list may be late: the search goes on until none is any more. */
export function settleOutside(pass: DecisionContext): void {
  const { record, s } = pass;
  const { outsideMove: move } = record;
  if (move !== undefined && s.full) {
    const found = s.outsidePulls?.known === true ? s.outsidePulls.value : null;
    for (const { pull, statuses } of found ?? []) {
      judgeHead(pass, pull, statuses);
      if (isTold(pass, move, pull.number)) continue;
      emitEvent(
        pass,
        'pr_skipped',
        { pr: pull.number, head: pull.headSha, title: pull.title, author: pull.author },
        'merged_outside_the_queue',
      );
      if (hasLandedHead(record, pull.headSha)) noteMerged(record, pull.number);
      noteOutsider(pass, pull.number, pull.mergeCommitSha);
    }
    const isWhole = found?.every(({ statuses }) => statuses.known) === true;
    const ageMs = s.now - move.since;
    if (ageMs >= (isWhole ? STALE_READING_MS : OUTSIDE_SEARCH_MS)) delete record.outsideMove;
    else wakeNoLaterThan(pass, s.now + (isWhole ? STALE_READING_MS - ageMs : WAKE_DELAY_MS_MAX));
  }
  if (record.outsideMove !== undefined || record.outside === undefined) return;
  const kept = record.outside.filter(({ at }) => s.now - at < LANDED_KEPT_MS);
  if (kept.length === 0) delete record.outside;
  else if (kept.length < record.outside.length) record.outside = kept;
}

/** A pull request of the queue leaves it with an event of its own, and what landed has had its event, whenever that was. */
function isTold({ record }: DecisionContext, { own }: OutsideMove, pr: PullRequestNumber): boolean {
  return (
    own.includes(pr) ||
    hasEverLanded(record, pr) ||
    (record.outside ?? []).some((outsider) => outsider.pr === pr) ||
    record.entries.some((entry) => entry.pr === pr)
  );
}

/** Judges the words that stand on the head of one that was merged outside the queue. */
export function judgeHead(pass: DecisionContext, pull: PullRequest, statuses: OutsidePull['statuses']): void {
  noticeRival(pass, pull, statuses);
  takeBackForeign(pass, pull, statuses);
  sayMergedOutside(pass, pull, statuses);
}

/** As every queue of this kind says it of what it lets through. */
const LET_THROUGH = /^(proven|landed): /;

/**
 * Merged outside this queue, and under its context a queue says that it let this one through: it was another one, and what
 * the two prove holds of neither's base. Whichever notices first stops.
 */
function noticeRival(
  { record, s, log }: DecisionContext,
  pull: PullRequest,
  statuses: OutsidePull['statuses'],
): void {
  if (record.rival !== undefined || !statuses.known || isOwnHead(record, pull)) return;
  const ours = statuses.value.find(({ context }) => context === record.context);
  if (ours === undefined || !LET_THROUGH.test(ours.description)) return;
  record.rival = { pr: pull.number, at: s.now, enabledAt: s.repo.enabledAt };
  log.push(`stopped: another queue has let #${pull.number} through under ${record.context}`);
}

/**
 * Another account has opened this merge under the queue's context. What it wrote stands on the commit, and would open the next pull
 * request with this head (A24): how this one left stands there instead. What another queue has said of it stays: it is the only trace of
 * that queue.
 */
export function takeBackForeign(
  pass: DecisionContext,
  pull: PullRequest,
  statuses: OutsidePull['statuses'],
  departure: 'merged_outside_the_queue' | 'merged_along' = 'merged_outside_the_queue',
): void {
  const { record } = pass;
  if (!statuses.known || isOwnHead(record, pull)) return;
  const ours = statuses.value.find(({ context }) => context === record.context);
  if (ours === undefined || !mayOpenMerge(ours) || LET_THROUGH.test(ours.description)) return;
  wishStatus(pass, {
    pr: pull.number,
    sha: pull.headSha,
    state: 'pending',
    description: describeDeparture(departure),
    targetUrl: null,
    takesBack: true,
  });
}

/** A person merged one of the queue past it, and its head still says that the queue goes on with it. */
function sayMergedOutside(pass: DecisionContext, pull: PullRequest, statuses: OutsidePull['statuses']): void {
  const { record } = pass;
  if (!statuses.known || isOwnHead(record, pull)) return;
  const ours = statuses.value.find(({ context }) => context === record.context);
  if (ours?.state === 'pending') sayGone(pass, pull, ours, 'merged_outside_the_queue');
}

/** This record, or one of the same address before it, may have said so itself. */
function isOwnHead(record: QueueRecord, { number, headSha }: PullRequest): boolean {
  return (
    record.outsideMove?.own.includes(number) === true ||
    hasEverLanded(record, number) ||
    hasLandedHead(record, headSha) ||
    isWatched(record, headSha) ||
    isLandingHead(record, headSha) ||
    record.recall?.includes(number) === true
  );
}

/** Nothing is staged and nothing lands beside another queue until a person has switched this one on again. */
export function stopBesideRival(pass: DecisionContext): void {
  const { record, s } = pass;
  if (record.rival === undefined) return;
  if (isLifted(record.rival, s.repo)) {
    delete record.rival;
    // The search finds the same merges again for a while; the person has answered for those that were told.
    const told = (record.outside ?? []).map(({ pr }) => pr);
    const { outsideMove: move } = record;
    if (move !== undefined) record.outsideMove = { ...move, own: [...new Set([...move.own, ...told])] };
    return;
  }
  raiseStandstill(pass, 'another_queue');
}
