import { type DecisionContext, entryOf, tellRefusal } from '../decision-context.ts';
import { type Deferred, isOfBatchAhead, isSilent } from '../record/deferral.ts';
import type { Fate, QueueRecord } from '../record/record.ts';
import { blamesHead, keepsWords, sayDeferred } from '../words/deferral-words.ts';
import { describeDefer } from '../words/phrases.ts';

/**
 * One deferral for a head, and beside it one for what is in flight ahead of it: if either took the place of the other, the
 * head would be tried on both grounds in turn without an end.
 */
function addDeferral(record: QueueRecord, deferred: Deferred): void {
  const others = record.deferred.filter(({ pr }) => pr !== deferred.pr);
  const own = record.deferred.filter(({ pr, head }) => pr === deferred.pr && head === deferred.head);
  // What was ahead may have become the base.
  const isOther = (known: Deferred) =>
    isOfBatchAhead(known) !== isOfBatchAhead(deferred) && known.baseTree !== deferred.baseTree;
  const beside = own.filter(isOther);
  // The words are those of the first.
  record.deferred = [
    ...others,
    ...(isOfBatchAhead(deferred) ? [...beside, deferred] : [deferred, ...beside]),
  ];
}

/** Sets a pull request aside until the base moves (or a time), and says why on its head if there are words for it. */
export function defer(
  pass: DecisionContext,
  member: { readonly pr: number; readonly head: string },
  deferred: Omit<Deferred, 'pr' | 'head'>,
): Fate {
  const { reason, baseTree } = deferred;
  const isSaid = pass.record.deferred.some(
    (known) =>
      known.pr === member.pr &&
      known.head === member.head &&
      known.reason === reason &&
      known.baseTree === baseTree,
  );
  addDeferral(pass.record, { pr: member.pr, head: member.head, ...deferred });
  const isBlamed = blamesHead(deferred.reason);
  const entry = entryOf(pass.record, member.pr);
  const isStanding =
    entry !== undefined && keepsWords(entry) && entry.said?.description === describeDefer(reason);
  // A silent reason says nothing of the base: whether the refusal that is told still holds there has yet to be tried.
  if (!isSilent(reason)) delete entry?.refusedBefore;
  // The words of a refusal that stands are kept; once it has ended, these are said.
  const isRefused = entry?.head === member.head && entry.refusedFor !== null;
  if (!isSaid && !isRefused && !isStanding) sayDeferred(pass, { pr: member.pr, head: member.head, reason });
  if (entry !== undefined && isBlamed) tellRefusal(pass, entry, deferred.reason);
  return { pr: member.pr, action: isBlamed ? 'refused' : 'requeued', reason: deferred.reason };
}
