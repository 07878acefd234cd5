import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import {
  GIVEN_UP_MAX,
  LANDED_KEPT_MS,
  LANDED_MAX,
  LANDED_NUMBERS_MAX,
  STALE_READING_MS,
} from '#core/domain/limits.ts';
import { UNKNOWN } from '#core/domain/result.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { GivenUp, Landing } from '../record/landing-state.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { QueueRecord } from '../record/record.ts';
import type { Snapshot } from '../snapshot.ts';
import { describeLanded, describeLeftBehind, describeUnverified } from '../words/phrases.ts';
import { sayError, wishStatus } from '../words/wish-status.ts';

/**
 * The work after a merge of ours, proven or not: its head says which of the two. The `success` is taken back at once: a status
 * belongs to the commit, so it would open the next pull request that has the same head, after a revert for example. And the
 * landing is remembered, because each reading of the forge becomes true in its own time.
 */
export function concludeLanding(
  pass: DecisionContext,
  landing: Pick<Landing, 'pr' | 'head' | 'baseBefore'>,
  merge: CommitSha,
  isProven = true,
): void {
  const { record, s } = pass;
  const { pr, head, baseBefore } = landing;
  record.landed = [...(record.landed ?? []), { pr, head, baseBefore, merge, at: s.now }].slice(-LANDED_MAX);
  noteMerged(record, pr);
  wishStatus(pass, {
    pr,
    sha: head,
    state: 'pending',
    description: isProven ? describeLanded() : describeUnverified(),
    targetUrl: null,
    takesBack: true,
  });
  forgetVerdicts(record, head);
}

/**
 * A push while the forge merged: its commit is in no merge, although its pull request is closed as merged. Forges do not say so,
 * and the words that the commit was told while it waited for its turn are not true any more.
 */
export function tellLeftBehind(
  pass: DecisionContext,
  entry: QueueEntry | undefined,
  merged: CommitSha,
): void {
  if (entry === undefined) return;
  const focus = pass.s.focus.get(entry.pr);
  // The merge may have ended before a look at the list showed the push.
  const read = focus?.known === true ? focus.value.pull.headSha : merged;
  const head = entry.head === merged ? read : entry.head;
  if (head !== merged) sayError(pass, { ...entry, head }, describeLeftBehind());
}

/**
 * Landed, or merged along with a landing by its success: after a revert the tree of such a merge may be the proven one of
 * a twin, and where that merge stands may not be readable for a while.
 */
export function noteMerged(record: QueueRecord, pr: PullRequestNumber): void {
  record.landedNumbers = [...(record.landedNumbers ?? []), pr].slice(-LANDED_NUMBERS_MAX);
}

/** Its merge may still come, or be called one: until then its proof is kept. */
export function noteGivenUp({ record, s }: DecisionContext, landing: Omit<GivenUp, 'at'>): void {
  const { pr, head, tree, baseBefore } = landing;
  const others = (record.givenUp ?? []).filter((each) => each.pr !== pr);
  record.givenUp = [...others, { pr, head, tree, baseBefore, at: s.now }].slice(-GIVEN_UP_MAX);
}

/** The status of a twin stood on the same commit and is gone: the twin is judged anew on the base as it is now. */
function forgetVerdicts(record: QueueRecord, head: CommitSha): void {
  record.bounced = record.bounced.filter((bounce) => bounce.head !== head);
  record.deferred = record.deferred.filter((deferred) => deferred.head !== head);
  for (const entry of record.entries) {
    if (entry.head !== head) continue;
    entry.refusedFor = null;
    delete entry.said;
  }
}

/** Landed by us: a list that still shows it as open is late. */
export function hasLanded(record: QueueRecord, pr: PullRequestNumber): boolean {
  return (record.landed ?? []).some((landed) => landed.pr === pr);
}

/** Merged by us, however long ago: a pull request is merged once. */
export function hasEverLanded(record: QueueRecord, pr: PullRequestNumber): boolean {
  return record.landedNumbers?.includes(pr) === true || hasLanded(record, pr);
}

export function hasLandedHead(record: QueueRecord, head: CommitSha): boolean {
  return (record.landed ?? []).some((landed) => landed.head === head);
}

/**
 * A tip that a landing of ours has replaced just now: a reading that shows it is late. One that lasts is no late reading:
 * the base was pushed back. What counts is when the look began: an engine that froze in it decides on what it read before.
 */
export function isReplacedTip(
  record: QueueRecord,
  sha: CommitSha,
  { now, begunAt = now }: Pick<Snapshot, 'now' | 'begunAt'>,
): boolean {
  return (record.landed ?? []).some(
    ({ baseBefore, at }) =>
      baseBefore === sha && baseBefore !== record.tip && begunAt - at < STALE_READING_MS,
  );
}

/** A base that is known to be late is unknown. */
export function withoutLateBase(s: Snapshot, record: QueueRecord): Snapshot {
  return s.base.known && isReplacedTip(record, s.base.value.sha, s) ? { ...s, base: UNKNOWN } : s;
}

/**
 * Forgets landings once every reading must have caught up. One that is listed even then is open: another one with its
 * head was merged, and it appeared too late to be known.
 */
export function forgetLanded({ record, s }: DecisionContext): void {
  if (!s.full) return;
  if (record.landed !== undefined) {
    const kept = record.landed.filter(({ at }) => s.now - at < LANDED_KEPT_MS);
    if (kept.length < record.landed.length) record.landed = kept;
  }
  if (record.landedNumbers === undefined || !s.pulls.known) return;
  const open = new Set(s.pulls.value.map(({ pull }) => pull.number));
  const merged = record.landedNumbers.filter((pr) => !open.has(pr) || hasLanded(record, pr));
  if (merged.length < record.landedNumbers.length) record.landedNumbers = merged;
}
