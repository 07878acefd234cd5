import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { STALE_READING_MS, WAKE_DELAY_MS_MIN } from '#core/domain/limits.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import {
  type DecisionContext,
  emitEvent,
  entryOf,
  isMergedHere,
  wakeNoLaterThan,
} from '../decision-context.ts';
import type { InsteadReason } from '../record/fate-instead.ts';
import type { Landing } from '../record/landing-state.ts';
import type { Batch, Member, QueueRecord, Untraced } from '../record/record.ts';
import type { MergeView } from '../snapshot.ts';
import { leaveQueue } from '../words/departure.ts';
import { describeDeparture, describeLanded } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';
import { noteGivenUp } from './landed.ts';
import { noteOutsider, searchOutside } from './merged-outside.ts';
import { putBack } from './twin-names.ts';

/** A landing whose pull request the forge fails to show for so long is told by its tree. A reading that fails once decides nothing. */
const UNREAD_MERGE_MS = 2 * STALE_READING_MS;

/** The forge may only be late to call it merged, or fail for a moment. */
export function mayBeCalledMergedYet(own: Reading<Pick<PullRequest, 'merged'>>, ageMs: number): boolean {
  if (!own.known) return ageMs < UNREAD_MERGE_MS;
  return !own.value.merged && ageMs < STALE_READING_MS;
}

/** Absent: this look had the list, which lacks it, and did not come to read it. */
function ownPull({ s }: DecisionContext, pr: PullRequestNumber): Reading<PullRequest> | undefined {
  if (s.merged?.known !== true) return UNKNOWN;
  const listed = s.merged.value.find(({ number }) => number === pr);
  return listed === undefined ? s.ownPulls?.get(pr) : known(listed);
}

/** The pull request that the forge names this merge of, where it is another one, with another head. */
export function namedInstead(
  merged: readonly PullRequest[],
  baseBranch: string,
  pr: PullRequestNumber,
  { mergeCommit, head }: Pick<Untraced['receipt'], 'mergeCommit' | 'head'>,
): PullRequest | undefined {
  const isIts = ({ mergeCommitSha, baseRef }: PullRequest): boolean =>
    mergeCommitSha === mergeCommit && baseRef === baseBranch;
  return merged.filter(isIts).find(({ number, headSha }) => number !== pr && headSha !== head);
}

function mergedInstead(
  { s }: DecisionContext,
  pr: PullRequestNumber,
  receipt: Pick<Untraced['receipt'], 'mergeCommit' | 'head'>,
): PullRequest | undefined {
  return namedInstead(s.merged?.known === true ? s.merged.value : [], s.repo.baseBranch, pr, receipt);
}

/**
 * A landing inside a batch was seen by its tree alone, and another pull request can make the same tree: one with the same change,
 * whose merge an account that may write has opened under the queue's context. Then the one that it was meant for is not merged, or
 * was by a later merge on top.
 *
 * @returns `unknown` while the forge may only be late to call it merged, or does not answer; `below`: another one came on top of its
 * own merge before the look that saw it
 */
export function isItsMerge(
  pass: DecisionContext,
  pr: PullRequestNumber,
  { receipt }: Untraced,
): 'yes' | 'below' | 'no' | 'unknown' {
  const own = ownPull(pass, pr);
  const ageMs = pass.s.now - receipt.landedAt;
  if (own === undefined || mayBeCalledMergedYet(own, ageMs)) return 'unknown';
  const isOfOther = mergedInstead(pass, pr, receipt) !== undefined;
  // That the forge fails on one pull request for so long is no sign: the tree is what was proven for it.
  if (!own.known) return isOfOther ? 'no' : 'yes';
  if (!isMergedHere(pass, own.value)) return 'no';
  if (own.value.mergeCommitSha === receipt.mergeCommit) return 'yes';
  // A list may be late: it does not name the pull request yet that has this merge.
  if (!isOfOther && ageMs < STALE_READING_MS) return 'unknown';
  const below = pass.s.provenBelow?.get(pr) ?? UNKNOWN;
  if (!below.known && ageMs < UNREAD_MERGE_MS) return 'unknown';
  if (below.known && below.value) return 'below';
  return isOfOther ? 'no' : 'yes';
}

/** It landed with a merge of its own, and the other one was merged past the queue on top of that. */
export function nameOwnMerge(pass: DecisionContext, member: Member, landed: Untraced): Untraced {
  const { record } = pass;
  const { receipt } = landed;
  const own = ownPull(pass, member.pr);
  const mergeCommit = own?.known === true ? own.value.mergeCommitSha : null;
  if (mergeCommit === null) return landed;
  renameMerge(record, receipt.mergeCommit, mergeCommit);
  const other = mergedInstead(pass, member.pr, receipt);
  if (other !== undefined) tellOther(pass, other, { ...receipt, baseBefore: mergeCommit });
  return { ...landed, receipt: { ...receipt, mergeCommit } };
}

/** Lists that are late show it as open for a while: it stays among those that were merged. */
function renameMerge(record: QueueRecord, before: CommitSha, mergeCommit: CommitSha | null): void {
  record.landed = (record.landed ?? []).map(({ merge, ...each }) => {
    const now = merge === before ? mergeCommit : merge;
    return now == null ? each : { ...each, merge: now };
  });
}

/** The base has the tree that was proven, so what stands on it goes on. Where another pull request has this merge, that one went past the queue. */
export function giveUpMerge(pass: DecisionContext, batch: Batch, member: Member, landed: Untraced): void {
  const { record, log } = pass;
  const { index, receipt } = landed;
  const { pr } = member;
  const own = ownPull(pass, pr);
  log.push(`${receipt.mergeCommit} has the tree that was proven for #${pr}, which it is not the merge of`);
  // The list of receipts is stored, and has no holes: rows read the fate of this member first.
  batch.receipts[index] = receipt;
  if (own?.known === true && isMergedHere(pass, own.value)) {
    const { mergeCommitSha } = own.value;
    renameMerge(record, receipt.mergeCommit, mergeCommitSha);
    noteFate(batch, pr, 'skipped', 'merged_outside_the_queue');
    emitEvent(pass, 'pr_skipped', member, 'merged_outside_the_queue');
    noteOutsider(pass, pr, mergeCommitSha);
    const description = describeDeparture('merged_outside_the_queue');
    wishStatus(pass, { pr, sha: receipt.head, state: 'pending', description, targetUrl: null });
  } else {
    record.landed = (record.landed ?? []).filter(({ merge }) => merge !== receipt.mergeCommit);
    record.landedNumbers = (record.landedNumbers ?? []).filter((each) => each !== pr);
    noteFate(batch, pr, 'requeued', 'base_advanced');
    putBack(pass, member, batch.createdAt, 'base_advanced');
    const entry = entryOf(record, pr);
    // Its head says that it landed, until other words are due.
    if (entry?.head === receipt.head)
      entry.said ??= { head: receipt.head, state: 'pending', description: describeLanded() };
  }
  // A forge that breaks off after its push has merged none. The state is what was proven, as with any move to that.
  const other = mergedInstead(pass, pr, receipt);
  if (other !== undefined) tellOther(pass, other, receipt);
  else noteGivenUp(pass, { ...receipt, pr });
  // This look has passed over it as one that has landed.
  wakeNoLaterThan(pass, pass.s.now + WAKE_DELAY_MS_MIN);
}

function noteFate(
  batch: Batch,
  pr: PullRequestNumber,
  action: 'requeued' | 'skipped',
  reason: InsteadReason,
): void {
  batch.fates.push({ pr, action, reason });
}

/**
 * False: the base has the tree that the landing makes, and the forge names the merge of no other pull request, or of one that came
 * along. A forge may call that one merged first.
 */
export function tellMergedInstead(
  pass: DecisionContext,
  { pr, head, baseBefore }: Landing,
  { sha: mergeCommit, parents = [] }: MergeView['commit'],
): boolean {
  // A merge commit has its base first, then the head that was merged; a fast-forward makes the head itself the tip.
  if (mergeCommit === head || parents.slice(1).includes(head)) return false;
  const other = mergedInstead(pass, pr, { mergeCommit, head });
  if (other !== undefined) tellOther(pass, other, { baseBefore, mergeCommit, landedAt: pass.s.now });
  return other !== undefined;
}

/** Told at once where it is one of the queue, which may be off, so that no look tells of it for long. */
function tellOther(
  pass: DecisionContext,
  { number: pr, mergeCommitSha }: PullRequest,
  { baseBefore, mergeCommit, landedAt }: Pick<Untraced['receipt'], 'baseBefore' | 'mergeCommit' | 'landedAt'>,
): void {
  const { record, alarms } = pass;
  const isTold = record.outside?.some((outsider) => outsider.pr === pr) === true;
  if (!isTold) alarms.push({ name: 'unverified_landing', pr });
  // The base may have moved past the queue since: that search then begins below this merge too.
  const { outsideMove: move } = record;
  const later = move !== undefined && move.since > landedAt ? move : undefined;
  if (later !== undefined) record.outsideMove = { ...later, from: baseBefore };
  searchOutside(pass, baseBefore, later?.to ?? mergeCommit);
  const entry = entryOf(record, pr);
  if (entry === undefined) return;
  leaveQueue(pass, entry, 'merged_outside_the_queue');
  noteOutsider(pass, pr, mergeCommitSha);
}

/** Is this the merge of a landing that is not traced yet, so that it may be of another pull request? */
export function isUntraced({ batches }: QueueRecord, merge: string): boolean {
  return batches.some(({ untraced }) => untraced?.some(({ receipt }) => receipt.mergeCommit === merge));
}
