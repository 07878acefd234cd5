import type { Review } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { readAllPages, readTotal } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { type ReviewRow, ReviewRows } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

const STATES: ReadonlyMap<string, Review['state']> = new Map([
  ['APPROVED', 'approved'],
  ['REQUEST_CHANGES', 'changes_requested'],
  ['REQUEST_REVIEW', 'review_requested'],
  ['COMMENT', 'comment'],
]);

/**
 * Lists all reviews, oldest first. Without `page` the forge sends them in one answer; pages of a forge that does not
 * are followed.
 */
export async function listReviews(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<readonly Review[]> {
  const call = {
    method: 'GET',
    label: 'GET pulls/{n}/reviews',
    path: [...transport.repoPath, 'pulls', String(pr), 'reviews'],
  } as const;
  const answer = await transport.request(call);
  const whole = readBody(ReviewRows, call, answer);
  const complete = whole.length >= (readTotal(answer) ?? 0);
  const rows = complete
    ? whole
    : await readAllPages(transport, call, (page) => readBody(ReviewRows, call, page));
  return rows.filter((row) => row !== null).map(toReview);
}

function toReview(row: ReviewRow): Review {
  return {
    id: row.id,
    user: row.user,
    state: STATES.get(row.state) ?? 'other',
    official: row.official,
    stale: row.stale,
    dismissed: row.dismissed,
    commit: row.commit_id,
    at: row.submitted_at,
  };
}
