import type { PullRecord, RepoRecord, ReviewRecord } from '../model.ts';
import { gitOf, takeId, type World } from '../world.ts';
import { isOfficialReviewer, ruleFor } from './protection.ts';
import { addEntry } from './timeline.ts';
import { reviewEvent, sendWebhooks } from './webhooks.ts';

export type Verdict = 'approve' | 'reject' | 'comment';

const STATES = { approve: 'APPROVED', reject: 'REQUEST_CHANGES', comment: 'COMMENT' } as const;
const WORDS = { approve: 'approved', reject: 'rejected', comment: 'comment' } as const;

/** Null: an author may not judge their own pull request. */
export function submitReview(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  user: string,
  verdict: Verdict,
  body: string,
): ReviewRecord | null {
  if (verdict !== 'comment' && pull.author === user) return null;
  // A newer judgement of the same person takes the official mark off the older ones; a comment does not.
  if (verdict !== 'comment')
    for (const older of pull.reviews) if (older.user === user) older.official = false;
  const now = world.timers.now();
  const review: ReviewRecord = {
    id: takeId(world),
    user,
    state: STATES[verdict],
    body,
    commit: pull.headSha,
    stale: false,
    official: verdict !== 'comment' && isOfficialReviewer(world, repo, pull, user),
    dismissed: false,
    at: now,
    updatedAt: now,
  };
  pull.reviews.push(review);
  addEntry(world, pull, 'review', user, { body, reviewId: review.id });
  sendWebhooks(world, repo, reviewEvent(world, repo, pull, WORDS[verdict], user, body));
  if (verdict === 'approve') world.queueAutoMerge(repo, pull, pull.headSha);
  return review;
}

export function dismissReview(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  review: ReviewRecord,
  user: string,
  message: string,
): void {
  review.dismissed = true;
  review.updatedAt = world.timers.now();
  addEntry(world, pull, 'dismiss_review', user, { body: message, reviewId: review.id });
  world.queueAutoMerge(repo, pull, pull.headSha);
}

export function dismissReviews(world: World, repo: RepoRecord, pull: PullRecord, user: string): void {
  for (const review of pull.reviews)
    if (!review.dismissed) dismissReview(world, repo, pull, review, user, '');
}

/** Its entry goes with it, and the pull request keeps the time of its last change (forge facts, 5). */
export function deleteReview(pull: PullRecord, review: ReviewRecord): void {
  pull.reviews.splice(pull.reviews.indexOf(review), 1);
  const at = pull.timeline.findIndex(({ type, reviewId }) => type === 'review' && reviewId === review.id);
  if (at >= 0) pull.timeline.splice(at, 1);
}

export function deleteReviews(pull: PullRecord): void {
  for (const review of [...pull.reviews]) deleteReview(pull, review);
}

/** After a push: with the same diff (a pure rebase) reviews keep their standing. */
export async function markStaleReviews(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  before: string,
  after: string,
): Promise<void> {
  if (pull.reviews.length === 0 || !(await diffChanged(world, repo, pull, before, after))) return;
  const rule = ruleFor(world, repo, pull.base);
  for (const review of pull.reviews) {
    review.stale = review.commit !== after;
    if (review.stale && review.state === 'APPROVED' && rule?.dismiss_stale_approvals === true)
      review.dismissed = true;
    review.updatedAt = world.timers.now();
  }
}

async function diffChanged(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  before: string,
  after: string,
): Promise<boolean> {
  const git = gitOf(world, repo);
  const tip = git.tip(pull.base);
  if (tip === null) return true;
  const diffOf = async (head: string): Promise<string | null> => {
    const base = await git.mergeBase(tip, head);
    return base === null ? null : (await git.diff(base, head)).replace(/^index .*$/gm, '');
  };
  const [old, now] = [await diffOf(before), await diffOf(after)];
  return old === null || now === null || old !== now;
}
