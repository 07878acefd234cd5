import type { CommitStatus, PullRequest } from '#core/domain/forge/forge.ts';
import type { DecisionContext } from '../decision-context.ts';
import { hasEverLanded, hasLandedHead } from '../landing/landed.ts';
import type { Departure } from '../record/landing-state.ts';
import { describeDeparture, describeOff, isPromise, isRefusalForNow } from './phrases.ts';
import { wishStatus } from './wish-status.ts';

/** The words of the queue on this head say that it goes on with the pull request. */
export function isPromised(statuses: readonly CommitStatus[], statusContext: string): boolean {
  const ours = statuses.find(({ context }) => context === statusContext);
  if (ours === undefined) return false;
  return isRefusalForNow(ours.description) || (ours.state === 'pending' && isPromise(ours.description));
}

/**
 * Out of the queue, and its head says otherwise: the word of its departure was lost or never said, or another one came after it.
 * A record that is being rebuilt does not know yet which others have this head.
 */
export function sayGone(
  pass: DecisionContext,
  { number: pr, headSha: sha }: PullRequest,
  { description: shown, creator }: CommitStatus,
  departure: Departure | 'merged_outside_the_queue' = 'left_the_queue',
): void {
  const { record, s } = pass;
  const isForeign = s.botLogin.known && creator !== s.botLogin.value;
  if (record.rebuilding || isForeign) return;
  const isUntrue =
    isPromise(shown) || isRefusalForNow(shown) || (s.repo.queueEnabled && shown === describeOff());
  // An open one may share its head with one that has landed, and reads what stands there.
  const hasItsEnd = departure === 'left_the_queue' ? hasEverLanded(record, pr) : hasLandedHead(record, sha);
  if (!isUntrue || record.entries.some(({ head }) => head === sha) || hasItsEnd) return;
  const description = describeDeparture(departure);
  wishStatus(pass, { pr, sha, state: 'pending', description, targetUrl: null });
}
