import type { Review } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { AnswerTooLarge } from '#core/ports/forge.ts';
import { readAllPages, readTotal } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { type ReviewRow, ReviewRows } from './wire/schema.ts';
import type { ForgeAnswer, ForgeCall, ForgeTransport } from './wire/transport.ts';

const STATES: ReadonlyMap<string, Review['state']> = new Map([
  ['APPROVED', 'approved'],
  ['REQUEST_CHANGES', 'changes_requested'],
  ['REQUEST_REVIEW', 'review_requested'],
  ['COMMENT', 'comment'],
]);

/**
 * Lists all reviews, oldest first. Without `page` the forge sends them in one answer; pages of a forge that does not
 * are followed, and so are those of an answer that is too large: every account that may read may write reviews of megabytes, or thousands.
 * One that is too large by itself is left out: an approval that lacks opens nothing, and a rejection holds the forge all the same.
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
  const readRows = (answer: ForgeAnswer) => readBody(ReviewRows, call, answer);
  const whole = await readWhole(transport, call, readRows);
  const rows = whole ?? (await readAllPages(transport, call, readRows, { leavesOutLarge: true }));
  return rows.filter((row) => row !== null).map(toReview);
}

/** Null: the answer is not all of it, or is too large. */
async function readWhole<Row>(
  transport: ForgeTransport,
  call: ForgeCall,
  readRows: (answer: ForgeAnswer) => readonly Row[],
): Promise<readonly Row[] | null> {
  try {
    const answer = await transport.request(call);
    const rows = readRows(answer);
    return rows.length >= (readTotal(answer) ?? 0) ? rows : null;
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
    return null;
  }
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
