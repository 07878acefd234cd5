import { UNHEARD_LOOK_MAX_MS, UNHEARD_LOOK_MIN_MS, UNHEARD_WATCH_MS } from '#core/domain/limits.ts';
import { type DecisionContext, wakeNoLaterThan } from './decision-context.ts';
import { describeStaleSuccess } from './describe.ts';
import type { Landing } from './landing-state.ts';
import type { UnheardPost } from './record.ts';

/**
 * A landing ends while some of its `success` posts were never answered: the forge may still carry them out, minutes
 * later, and each would then be the newest word on that head. The head is watched until all have been seen or the
 * longest such delay is over.
 */
export function watchUnheard({ record, s }: Pick<DecisionContext, 'record' | 's'>, landing: Landing): void {
  const posts = (landing.asked ?? 0) - (landing.answered ?? 0);
  if (posts <= 0) return;
  const { pr, head: sha } = landing;
  const others = (record.unheard ?? []).filter((each) => each.sha !== sha || each.context !== record.context);
  const lookAt = s.now + UNHEARD_LOOK_MIN_MS;
  record.unheard = [...others, { pr, sha, context: record.context, posts, since: s.now, lookAt }];
}

/** Takes back what has arrived since, and says when to look again. */
export function settleUnheard(pass: DecisionContext): void {
  const { record } = pass;
  if (record.unheard === undefined) return;
  const kept = record.unheard.flatMap((post) => settle(pass, post));
  for (const { lookAt } of kept) wakeNoLaterThan(pass, lookAt);
  if (kept.length > 0) record.unheard = kept;
  else delete record.unheard;
}

function settle(pass: DecisionContext, post: UnheardPost): readonly UnheardPost[] {
  const { record, s } = pass;
  // Where it lands once more a success is what should stand, and the end of that landing begins the watch anew.
  if (record.roots.some((root) => root.landing?.head === post.sha)) return [post];
  const statuses = s.unheard?.get(post.sha);
  // A reading of before our last word on this head says nothing.
  const isOurTurn = record.pendingStatuses.some((waiting) => waiting.sha === post.sha);
  if (statuses === undefined || !statuses.known || isOurTurn)
    return s.now - post.since < UNHEARD_WATCH_MS ? [post] : [];
  const now = statuses.value.find((status) => status.context === post.context);
  if (now?.state === 'success') {
    record.pendingStatuses.push({
      ...{ pr: post.pr, sha: post.sha, context: post.context },
      ...{ state: 'pending', description: describeStaleSuccess(), targetUrl: null },
      takesBack: true,
    });
    pass.log.push(`a success on ${post.sha} was carried out late and is taken back`);
    return post.posts > 1 ? [{ ...post, posts: post.posts - 1, lookAt: s.now + UNHEARD_LOOK_MIN_MS }] : [];
  }
  const ageMs = s.now - post.since;
  if (ageMs >= UNHEARD_WATCH_MS) return [];
  const soonMs = Math.max(UNHEARD_LOOK_MIN_MS, Math.min(UNHEARD_LOOK_MAX_MS, Math.round(ageMs / 2)));
  return [{ ...post, lookAt: s.now + soonMs }];
}
