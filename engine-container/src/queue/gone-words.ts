import type { PullRequest } from '#core/domain/forge.ts';
import { type DecisionContext, wishStatus } from './decision-context.ts';
import { describeDeparture, isPromise } from './describe.ts';
import { hasLandedHead } from './landed.ts';

/** Out of the queue, and its head says otherwise: the word of its departure was lost, or another one came after it. */
export function sayGone(
  pass: DecisionContext,
  { number: pr, headSha: sha }: PullRequest,
  shown: string,
): void {
  const isShared = pass.record.entries.some(({ head }) => head === sha);
  if (!isPromise(shown) || isShared || hasLandedHead(pass.record, sha)) return;
  const description = describeDeparture('left_the_queue');
  wishStatus(pass, { pr, sha, state: 'pending', description, targetUrl: null });
}
