import type { CommitSha } from '#core/domain/ids.ts';
import { SUCCESS_TRIES_MAX } from '#core/domain/limits.ts';
import { deferWithBackoff } from '../batches/staging-failure.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { Landing } from '../record/landing-state.ts';
import type { Batch } from '../record/record.ts';
import { giveUpLanding } from './given-up.ts';

/** No status can be written on this head: `success` was tried again and again, and not once answered. */
export function isUnpostable({ postedAt, asked = 0, answered = 0 }: Landing): boolean {
  return postedAt === null && asked - answered >= SUCCESS_TRIES_MAX;
}

/** Over without a merge and without blame: set aside for a while, so that no other waits for it. */
export function endUnposted(pass: DecisionContext, batch: Batch, landing: Landing): void {
  giveUpLanding(pass, batch, landing);
  const member = batch.members[landing.index];
  if (member === undefined) return;
  deferWithBackoff(pass, member, batch);
  const { record } = pass;
  record.deferred = record.deferred.map((each) =>
    each.pr === member.pr && each.reason === 'staging_failed' ? { ...each, isUnwritten: true } : each,
  );
  batch.fates.push({ pr: member.pr, action: 'requeued', reason: 'staging_failed' });
}

/**
 * A word was written on this head: the forge took no status for a while, and the head is not at fault. Once for each head, as a
 * forge may take every word on it but the `success`.
 */
export function resumeWritten({ record }: DecisionContext, sha: CommitSha): void {
  record.deferred = record.deferred.filter(({ pr, head, isUnwritten }) => {
    const isFirst = record.entries.some((each) => each.pr === pr && (each.timesSetAside ?? 0) <= 1);
    return head !== sha || isUnwritten !== true || !isFirst;
  });
}
