import type { Refusal } from './admission.ts';
import { type DecisionContext, entryOf, wishStatus } from './decision-context.ts';
import { describeRefusal, describeTakeBack } from './describe.ts';
import type { Landing, TakeBackReason } from './landing-state.ts';

/**
 * A success whose answer was lost may have been carried out after it was taken back: the last word is ours (E19). Who was
 * refused meanwhile keeps the words of the refusal: they say what to do.
 */
export function sayLastWord(pass: DecisionContext, landing: Landing, reason: TakeBackReason): void {
  const { pr, head: sha } = landing;
  const entry = entryOf(pass.record, pr);
  const refusedFor = entry?.head === sha ? entry.refusedFor : null;
  const words =
    refusedFor === null
      ? ({ state: 'pending', description: describeTakeBack(reason) } as const)
      : ({ state: 'error', description: describeRefusal(refusedFor as Refusal) } as const);
  wishStatus(pass, { pr, sha, ...words, targetUrl: null });
}
