import { LANDING_POLL_MS_MAX, LANDING_TIMEOUT_MS, UNREADABLE_WAIT_MS } from '#core/domain/limits.ts';
import { startTeardown } from '../batches/end-batch.ts';
import { deferWithBackoff } from '../batches/staging-failure.ts';
import { type DecisionContext, pollNoLaterThan, wakeNoLaterThan } from '../decision-context.ts';
import type { Landing } from '../record/landing-state.ts';
import type { Batch } from '../record/record.ts';
import { sayLastWord } from '../words/last-word.ts';
import { giveUpLanding } from './given-up.ts';
import { releaseHarmless } from './standing.ts';
import { graceEndsAt, isWatched, watchUnheard } from './unheard.ts';
import { endUnposted, isUnpostable } from './unposted.ts';

/**
 * The next one of a proven batch cannot be read, so it cannot land. Once is chance. For minutes, while everything else
 * can be read, it is something about this one: it is set aside, so that no other waits for it.
 */
export function outwaitReading(pass: DecisionContext, batch: Batch): void {
  const { s } = pass;
  pollNoLaterThan(pass, LANDING_POLL_MS_MAX);
  batch.unreadableSince ??= s.now;
  const until = batch.unreadableSince + UNREADABLE_WAIT_MS;
  if (s.now < until) return wakeNoLaterThan(pass, until);
  const member = batch.members[batch.landed];
  // A forge that answers nothing at all is given time as a whole.
  if (member === undefined || !s.full || !s.pulls.known || !s.base.known) return;
  deferWithBackoff(pass, member, batch);
  batch.fates.push({ pr: member.pr, action: 'requeued', reason: 'staging_failed' });
  startTeardown(pass, batch, 'staging_failed');
}

/**
 * A pull request that lands cannot be read. Its success is taken back after the time of any landing; the base, which every
 * other reading tells of, shows that nothing came of it. Then the landing is over, and nothing is held against its author.
 */
export function outwaitUnread(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const { s } = pass;
  pollNoLaterThan(pass, LANDING_POLL_MS_MAX);
  const { postedAt, takeBack } = landing;
  if (takeBack === null) {
    const until =
      postedAt === null
        ? (landing.askedAt ?? landing.intentAt) + UNREADABLE_WAIT_MS
        : postedAt + LANDING_TIMEOUT_MS;
    // A forge that answers nothing at all is given time as a whole.
    const isOfThisOne = s.full && s.pulls.known && s.base.known;
    if (s.now >= until && (postedAt !== null || isOfThisOne)) startTeardown(pass, batch, 'merge_timeout');
    return;
  }
  if (takeBack.postedAt === null) return releaseHarmless(pass, batch, landing);
  const until = graceEndsAt(landing, takeBack.postedAt);
  if (s.now < until) {
    if (!isWatched(pass.record, landing.head)) watchUnheard(pass, landing);
    return wakeNoLaterThan(pass, until);
  }
  if (!s.full || !s.base.known) return;
  if (s.base.value.sha !== landing.baseBefore && s.now - takeBack.postedAt < UNREADABLE_WAIT_MS) return;
  if (isUnpostable(landing)) return endUnposted(pass, batch, landing);
  giveUpLanding(pass, batch, landing);
  sayLastWord(pass, landing, takeBack.reason);
  const member = batch.members[landing.index];
  if (takeBack.reason !== 'merge_timeout' || member === undefined) return;
  deferWithBackoff(pass, member, batch);
  batch.fates.push({ pr: member.pr, action: 'requeued', reason: 'staging_failed' });
}
