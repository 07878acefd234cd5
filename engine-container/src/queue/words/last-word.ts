import type { DecisionContext } from '../decision-context.ts';
import type { Landing, TakeBackReason } from '../record/landing-state.ts';
import { describeDeparture, describeRefusal, describeTakeBack } from './describe.ts';
import { wishStatus } from './wish-status.ts';

/**
 * A success whose answer was lost may have been carried out after it was taken back: the last word is ours (E19). A pull
 * request with this head that was refused meanwhile keeps the words of its refusal: they say what to do.
 */
export function sayLastWord(pass: DecisionContext, landing: Landing, reason: TakeBackReason): void {
  const { pr, head: sha } = landing;
  const refused = pass.record.entries.filter(({ head, refusedFor }) => head === sha && refusedFor !== null);
  const { refusedFor = null } = refused.find((entry) => entry.pr === pr) ?? refused[0] ?? {};
  const isInQueue = pass.record.entries.some((entry) => entry.pr === pr || entry.head === sha);
  // It is not tested again.
  const hasLeft = !isInQueue && reason !== 'queue_disabled';
  const pending = hasLeft ? describeDeparture('left_the_queue') : describeTakeBack(reason);
  const words =
    refusedFor === null
      ? ({ state: 'pending', description: pending } as const)
      : ({ state: 'error', description: describeRefusal(refusedFor) } as const);
  wishStatus(pass, { pr, sha, ...words, targetUrl: null });
}
