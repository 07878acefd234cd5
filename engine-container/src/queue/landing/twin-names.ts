import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { askersOf, type DecisionContext, emitEvent, entryOf } from '../decision-context.ts';
import type { TakeBackReason } from '../record/landing-state.ts';
import { authored, comparePositions, createEntry } from '../record/queue-entry.ts';
import type { Batch, Member, Untraced } from '../record/record.ts';

/** The batch speaks of another pull request with this head from now on, in every row. */
export function replaceMember(batch: Batch, index: number, twin: Member): void {
  const before = batch.members[index]?.pr;
  batch.members[index] = twin;
  for (const node of batch.nodes)
    node.actions = node.actions.map((each) => (each.pr === before ? { ...each, pr: twin.pr } : each));
}

/**
 * A landing inside a batch was seen by its tree alone, and a twin that appeared after the post has no other. Before it is
 * told, the merged ones say whose it is: the one that it was meant for goes back to the queue.
 */
export function nameTwin(pass: DecisionContext, batch: Batch, landed: Untraced): Untraced {
  const { index, receipt } = landed;
  const { record, s } = pass;
  const member = batch.members[index];
  const merged = s.merged?.known === true ? s.merged.value : [];
  const isIts = ({ mergeCommitSha, headSha, baseRef }: PullRequest): boolean =>
    mergeCommitSha === receipt.mergeCommit && headSha === receipt.head && baseRef === s.repo.baseBranch;
  const twin = merged.find(isIts);
  if (member === undefined || twin === undefined || merged.some(({ number }) => number === member.pr))
    return landed;
  const scheduleId = entryOf(record, twin.number)?.scheduleId ?? 0;
  const askers = askersOf(record, twin.number, receipt.head);
  const { number: pr, title } = twin;
  replaceMember(batch, index, { pr, head: member.head, scheduleId, title, ...authored(twin) });
  record.entries = record.entries.filter(({ pr }) => pr !== twin.number);
  const nameOf = (pr: PullRequestNumber): PullRequestNumber => (pr === member.pr ? twin.number : pr);
  if (record.landed !== undefined)
    record.landed = record.landed.map((each) => ({ ...each, pr: nameOf(each.pr) }));
  if (record.landedNumbers !== undefined) record.landedNumbers = record.landedNumbers.map(nameOf);
  putBack(pass, member, batch.createdAt, 'candidate_changed');
  const { scheduledBy: _, approvedBy: __, ...meant } = receipt;
  return { index, receipt: { ...meant, ...askers } };
}

/** A member that was taken for landed is in the queue again, at its old place. */
export function putBack(
  pass: DecisionContext,
  member: Member,
  queuedAt: EpochMs,
  reason: TakeBackReason,
): void {
  const { pr, head, title, scheduleId } = member;
  if (entryOf(pass.record, pr) !== undefined) return;
  const entry = createEntry({ pr, head, title, scheduleId, queuedAt, ...authored(member) });
  pass.record.entries.push(entry);
  pass.record.entries.sort(comparePositions(pass.s.now));
  emitEvent(pass, 'pr_requeued', entry, reason);
}
