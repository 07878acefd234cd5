import type { DecisionContext } from '../decision-context.ts';
import { bounceOf, isBounced } from '../record/bounced.ts';
import type { Landing, TakeBackReason } from '../record/landing-state.ts';
import type { QueueRecord } from '../record/record.ts';
import {
  describeDeparture,
  describeEarlierBounce,
  describeLostSchedule,
  describeOldHead,
  describeRefusal,
  describeTakeBack,
  describeUnbound,
} from './phrases.ts';
import { sayError, wishStatus } from './wish-status.ts';

/** A success whose answer was lost may have been carried out after it was taken back: the last word is ours (E19). */
export function sayLastWord(pass: DecisionContext, landing: Landing, reason: TakeBackReason): void {
  const { pr, head: sha } = landing;
  wishStatus(pass, { pr, sha, ...wordsOfEnd(pass.record, landing, reason), targetUrl: null });
}

/** In the place of a word that takes the `success` of this landing back, and takes it back as well. */
export function sayTakenBack(pass: DecisionContext, landing: Landing, reason: TakeBackReason): void {
  const { pr, head: sha } = landing;
  wishStatus(pass, {
    pr,
    sha,
    ...wordsOfEnd(pass.record, landing, reason),
    targetUrl: null,
    takesBack: true,
  });
}

/**
 * The last word of one whose schedule the forge dropped. A status belongs to the commit: one with this head that was bounced or
 * refused keeps the words of that, which say what its author has to do.
 */
export function sayLostSchedule(
  pass: DecisionContext,
  { pr, head: sha }: Pick<Landing, 'pr' | 'head'>,
): void {
  const others = pass.record.entries.filter((entry) => entry.head === sha);
  if (others.some(({ refusedFor }) => refusedFor !== null)) return;
  const bounced = others.find((entry) => isBounced(pass.record, entry));
  if (bounced !== undefined)
    return sayError(pass, bounced, describeEarlierBounce(bounceOf(pass.record, bounced)));
  wishStatus(pass, { pr, sha, state: 'pending', description: describeLostSchedule(), targetUrl: null });
}

/**
 * Words on its head from when its `success` is taken back. A pull request with this head that was refused meanwhile keeps the
 * words of its refusal, and one whose schedule does not hold any more those of its move: they say what to do.
 */
export function wordsOfEnd(
  record: QueueRecord,
  landing: Landing,
  reason: TakeBackReason,
): { readonly state: 'pending' | 'error'; readonly description: string } {
  const { pr, head: sha } = landing;
  const refused = record.entries.filter(({ head, refusedFor }) => head === sha && refusedFor !== null);
  const { refusedFor = null } = refused.find((entry) => entry.pr === pr) ?? refused[0] ?? {};
  if (refusedFor !== null) return { state: 'error', description: describeRefusal(refusedFor) };
  const moved = record.entries.find(
    (entry) => entry.pr === pr && entry.head === sha && entry.movedAt !== null,
  );
  if (moved !== undefined) return { state: 'error', description: describeUnbound(moved) };
  if (isOldHead(record, landing)) return { state: 'error', description: describeOldHead() };
  return { state: 'pending', description: describeEnd(record, landing, reason) };
}

/** The pull request was pushed meanwhile, and no other one has this head: it is not tested again. */
function isOldHead({ entries }: QueueRecord, { pr, head }: Landing): boolean {
  return entries.some((entry) => entry.pr === pr) && !entries.some((entry) => entry.head === head);
}

/** A pull request that has left the queue is not tested again, so its words are those of how it left. */
function describeEnd({ entries }: QueueRecord, { pr, head, left }: Landing, reason: TakeBackReason): string {
  if (entries.some((entry) => entry.pr === pr || entry.head === head)) return describeTakeBack(reason);
  if (left === undefined && reason === 'queue_disabled') return describeTakeBack(reason);
  return describeDeparture(left ?? 'left_the_queue');
}
