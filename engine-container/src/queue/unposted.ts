import { SUCCESS_TRIES_MAX, TAKING_BACK_TRIES_MAX } from '#core/domain/limits.ts';
import type { DecisionContext } from './decision-context.ts';
import type { Landing } from './landing-state.ts';
import type { Root } from './record.ts';
import { setAside } from './staging-failure.ts';
import { watchUnheard } from './unheard.ts';

/** No status can be written on this head: `success` was tried again and again, and not once answered. */
export function isUnpostable({ postedAt, asked = 0, answered = 0 }: Landing): boolean {
  return postedAt === null && asked - answered >= SUCCESS_TRIES_MAX;
}

/**
 * What takes a `success` back cannot be written either. It counts as written once a reading shows that no success stands;
 * one that is carried out late is watched for.
 */
export function settleUnwritable({ record, s }: DecisionContext, landing: Landing): void {
  const { revoke, head } = landing;
  const waiting = record.pendingStatuses.find(
    ({ sha, context }) => sha === head && context === record.context,
  );
  if (revoke === null || (waiting?.failures ?? 0) < TAKING_BACK_TRIES_MAX) return;
  const isWatched = record.unheard?.some(({ sha }) => sha === head) === true;
  if (!isWatched) watchUnheard({ record, s }, landing);
  const statuses = s.unheard?.get(head);
  if (statuses?.known !== true) return;
  if (statuses.value.some(({ context, state }) => context === record.context && state === 'success')) return;
  revoke.postedAt = s.now;
  record.pendingStatuses = record.pendingStatuses.filter((status) => status !== waiting);
}

/** Over without a merge and without blame: set aside for a while, so that no other waits for it. */
export function endUnposted(pass: DecisionContext, root: Root, landing: Landing): void {
  root.landing = null;
  watchUnheard(pass, landing);
  const member = root.members[landing.index];
  if (member === undefined) return;
  setAside(pass, member, root);
  root.fates.push({ pr: member.pr, action: 'requeued', reason: 'staging_failed' });
}
