import type { PullRequestNumber } from '#core/domain/ids.ts';
import { STALE_READING_MS, WAKE_DELAY_MS_MIN } from '#core/domain/limits.ts';
import { type DecisionContext, wakeNoLaterThan } from '../decision-context.ts';
import type { Batch, QueueRecord, Untraced } from '../record/record.ts';
import { searchOutside } from './merged-outside.ts';
import { putBack } from './twin-names.ts';

/**
 * A landing inside a batch was seen by its tree alone, and another pull request can make the same tree: one with the same change,
 * whose merge an account that may write has opened under the queue's context. Then the one that it was meant for is not merged.
 *
 * @returns `unknown` while the forge may only be late to call it merged, or does not answer
 */
export function isItsMerge(
  { s }: DecisionContext,
  pr: PullRequestNumber | undefined,
  { receipt }: Untraced,
): 'yes' | 'no' | 'unknown' {
  const own = pr === undefined ? undefined : s.ownMerged?.get(pr);
  if (own === undefined || (own.known && own.value)) return 'yes';
  if (s.now - receipt.landedAt < STALE_READING_MS) return 'unknown';
  // That the forge fails on one pull request for so long is no sign: the tree is what was proven for it.
  return own.known ? 'no' : 'yes';
}

/** The base has the tree that was proven, so what stands on it goes on. Where another pull request has this merge, that one went past the queue. */
export function giveUpMerge(pass: DecisionContext, batch: Batch, landed: Untraced): void {
  const { record, s, log, alarms } = pass;
  const { index, receipt } = landed;
  const member = batch.members[index];
  batch.untraced = (batch.untraced ?? []).filter((each) => each !== landed);
  if (member === undefined) return;
  const { pr } = member;
  log.push(`${receipt.mergeCommit} has the tree that was proven for #${pr}, which is not merged`);
  record.landed = (record.landed ?? []).filter(({ merge }) => merge !== receipt.mergeCommit);
  record.landedNumbers = (record.landedNumbers ?? []).filter((each) => each !== pr);
  batch.fates.push({ pr, action: 'requeued', reason: 'base_advanced' });
  putBack(pass, member, batch.createdAt, 'base_advanced');
  const merged = s.merged?.known === true ? s.merged.value : [];
  const other = merged.find(
    ({ mergeCommitSha, baseRef }) => mergeCommitSha === receipt.mergeCommit && baseRef === s.repo.baseBranch,
  );
  // A forge that breaks off after its push has merged none. The state is what was proven, as with any move to that.
  if (other !== undefined) {
    // One of the queue may have left it with that alarm.
    const isTold = record.outside?.some((outsider) => outsider.pr === other.number) === true;
    if (!isTold) alarms.push({ name: 'unverified_landing', pr: other.number });
    searchOutside(pass, receipt.baseBefore, receipt.mergeCommit);
  }
  // This look has passed over it as one that has landed.
  wakeNoLaterThan(pass, pass.s.now + WAKE_DELAY_MS_MIN);
}

/** Is this the merge of a landing that is not traced yet, so that it may be of another pull request? */
export function isUntraced({ batches }: QueueRecord, merge: string): boolean {
  return batches.some(({ untraced }) => untraced?.some(({ receipt }) => receipt.mergeCommit === merge));
}
