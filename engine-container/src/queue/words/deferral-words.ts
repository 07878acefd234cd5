import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { type DecisionContext, entryOf } from '../decision-context.ts';
import {
  type DeferReason,
  type Deferred,
  deferralOf,
  FOUND_BY_STAGING,
  isFoundByStaging,
} from '../record/deferral.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { QueueRecord } from '../record/record.ts';
import { describeDefer } from './phrases.ts';
import { wishStatus } from './wish-status.ts';

/** The pull request itself is the reason, and its author has to do something. */
export function blamesHead(reason: DeferReason): boolean {
  return PULL_CODES[reason].fault;
}

/** Says on its head why it stands aside, where there is something to say. */
export function sayDeferred(
  pass: DecisionContext,
  { pr, head, reason }: Pick<Deferred, 'pr' | 'head' | 'reason'>,
): void {
  const description = describeDefer(reason);
  if (description === null) return;
  const state = blamesHead(reason) ? 'error' : 'pending';
  wishStatus(pass, { pr, sha: head, state, description, targetUrl: null });
}

/** A refusal that has ended stood over the words of what still holds. */
export function sayAsideAgain(pass: DecisionContext, entry: QueueEntry): void {
  const deferred = deferralOf(pass.record, entry);
  if (deferred !== undefined) sayDeferred(pass, deferred);
}

/** A refusal or failure of staging ends for another try, which mostly ends as before: the words stand until that try is over. */
export function keepWords(pass: DecisionContext, { pr, head, reason }: Deferred): void {
  const entry = entryOf(pass.record, pr);
  const says = describeDefer(reason);
  if (entry?.head === head && says !== null && isFoundByStaging(reason)) entry.refusedBefore = { head, says };
}

/** The words on its head are those of such a refusal or failure. */
export function keepsWords({ head, said, refusedBefore }: QueueEntry): boolean {
  return refusedBefore?.head === head && said?.head === head && said.description === refusedBefore.says;
}

/** The reason found by staging that the words on its head tell, also where its time is up and it is about to be tried again; null: none. */
export function keptReason(
  { deferred }: Pick<QueueRecord, 'deferred'>,
  entry: QueueEntry,
): DeferReason | null {
  const { pr, head, said } = entry;
  if (said?.head !== head) return null;
  const own = deferred.filter((each) => each.pr === pr && each.head === head).map(({ reason }) => reason);
  const reasons = keepsWords(entry) ? FOUND_BY_STAGING : own;
  return reasons.find((reason) => describeDefer(reason) === said.description) ?? null;
}
