import type { Review } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import { includesLogin } from '#core/domain/repos/schedule-rules.ts';

/** States that a rule can ask for. */
export const COUNTED_STATES = ['approved', 'changes_requested', 'review_requested'] as const;
type CountedState = (typeof COUNTED_STATES)[number];

/** How many reviews with a say are alike in all that a rule asks about: at most 24 kinds, however many reviews. */
export interface ReviewCount {
  readonly state: CountedState;
  readonly stale: boolean;
  /** Made on the head that they are counted for, since it was pushed there where that was asked. */
  readonly onHead: boolean;
  /** Of an account that the settings call a bot. Absent: not, or not asked. */
  readonly byBot?: true;
  readonly count: number;
}

/** The reviews of one head as the forge's rules see them: those without a say, and all comments, are left out. */
export function countReviews(
  reviews: readonly Review[],
  head: CommitSha,
  since: EpochMs = Number.NEGATIVE_INFINITY,
  bots: readonly string[] = [],
): readonly ReviewCount[] {
  const kinds = new Map<string, ReviewCount>();
  for (const review of reviews) {
    const { state, official, dismissed, stale, user } = review;
    if (!official || dismissed || !isCounted(state)) continue;
    const onHead = isOnHead(review, head, since);
    const byBot = includesLogin(bots, user) ? { byBot: true as const } : {};
    const key = [state, stale, onHead, byBot.byBot].join(' ');
    kinds.set(key, { state, stale, onHead, ...byBot, count: (kinds.get(key)?.count ?? 0) + 1 });
  }
  return [...kinds.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
}

/** So many logins are kept for a receipt; of more, none. */
const APPROVERS_KEPT_MAX = 20;

/** Reviews of one head as they are kept: how many are alike, and who approved it. */
export interface CountedReviews {
  readonly reviews: readonly ReviewCount[];
  /** Absent: more than are kept. */
  readonly approvedBy?: readonly string[];
}

export function summarize(
  reviews: readonly Review[],
  head: CommitSha,
  { since, bots }: { readonly since?: EpochMs; readonly bots: readonly string[] },
): CountedReviews {
  const approvedBy = approversOf(reviews, head);
  return {
    reviews: countReviews(reviews, head, since, bots),
    ...(approvedBy.length > APPROVERS_KEPT_MAX ? {} : { approvedBy }),
  };
}

/** Who approved exactly this head since then, officially. Logins, each once. */
export function approversOf(
  reviews: readonly Review[],
  head: CommitSha,
  since: EpochMs = Number.NEGATIVE_INFINITY,
): readonly string[] {
  const approvals = reviews.filter((review) => {
    const { official, dismissed, state } = review;
    return official && !dismissed && state === 'approved' && isOnHead(review, head, since);
  });
  return [...new Set(approvals.map(({ user }) => user))];
}

function isOnHead({ commit, at }: Review, head: CommitSha, since: EpochMs): boolean {
  return commit === head && at >= since;
}

function isCounted(state: Review['state']): state is CountedState {
  return (COUNTED_STATES as readonly string[]).includes(state);
}
