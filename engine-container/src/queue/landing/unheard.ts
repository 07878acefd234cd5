import { mayOpenMerge } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import {
  SUCCESS_LATE_MS,
  TAKE_BACK_GRACE_MS,
  TAKING_BACK_TRIES_MAX,
  UNHEARD_LOOK_MS_MAX,
  UNHEARD_LOOK_MS_MIN,
  UNHEARD_WATCH_MS,
} from '#core/domain/limits.ts';
import { type DecisionContext, entryOf, wakeNoLaterThan } from '../decision-context.ts';
import { bounceOf, isBounced } from '../record/bounced.ts';
import type { Landing } from '../record/landing-state.ts';
import type { PendingStatus, UnheardPost } from '../record/pending-status.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import { describeEarlierBounce, describeRefusal, describeStaleSuccess } from '../words/phrases.ts';

/**
 * A landing ends while some of its `success` posts were never answered: the forge may still carry them out, minutes
 * later, and each would then be the newest word on that head. The head is watched until all have been seen or the
 * longest such delay is over.
 */
export function watchUnheard(
  { record, s }: Pick<DecisionContext, 'record' | 's'>,
  landing: Landing,
  how?: 'unwritable',
): void {
  const posts = (landing.asked ?? 0) - (landing.answered ?? 0);
  if (posts <= 0) return;
  const { pr, head: sha } = landing;
  const isKnown = record.unheard?.some((each) => each.sha === sha && each.isUnwritable === true) === true;
  const unwritable = how === 'unwritable' || isKnown ? { isUnwritable: true as const } : {};
  watchHead(record, { pr, sha, context: record.context, posts, ...unwritable }, s.now);
}

/**
 * The forge may still end a merge that it began before its success was taken back; and a success that was never answered
 * may be carried out after it was.
 */
export function graceEndsAt(
  { asked = 0, answered = 0, askedAt = 0 }: Landing,
  takenBackAt: EpochMs,
): EpochMs {
  const lateUntil = asked > answered ? askedAt + SUCCESS_LATE_MS : 0;
  return Math.max(takenBackAt + TAKE_BACK_GRACE_MS, lateUntil);
}

export function isWatched({ unheard }: QueueRecord, head: CommitSha): boolean {
  return unheard?.some(({ sha }) => sha === head) === true;
}

/** Replaces an earlier watch of the same head and context. */
export function watchHead(
  record: QueueRecord,
  post: Omit<UnheardPost, 'since' | 'lookAt'>,
  now: EpochMs,
): void {
  const others = (record.unheard ?? []).filter(
    ({ sha, context }) => sha !== post.sha || context !== post.context,
  );
  record.unheard = [...others, { ...post, since: now, lookAt: now + UNHEARD_LOOK_MS_MIN }];
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
  // One that a look did not come to keeps its turn before those that it did.
  const isNotReached = s.unheard?.has(post.sha) === false;
  const keptWatch =
    isNotReached || post.lookAt > s.now
      ? post
      : { ...post, lookAt: nextLookAt(post, s.now, UNHEARD_LOOK_MS_MIN) };
  // Where it lands once more a success is what should stand, and the end of that landing begins the watch anew.
  const isLanding = ({ landing }: Batch) => landing?.head === post.sha && landing.takeBack === null;
  if (record.batches.some(isLanding)) return [keptWatch];
  const statuses = s.unheard?.get(post.sha);
  // A reading of before our last word on this head says nothing.
  const waiting = record.pendingStatuses.find(
    ({ sha, context }) => sha === post.sha && context === post.context,
  );
  // Mere words that could not be written may wait for hours, and a success may arrive meanwhile.
  const isOurTurn = waiting !== undefined && (waiting.takesBack === true || waiting.failures === undefined);
  if (isOurTurn) return s.now - post.since < UNHEARD_WATCH_MS ? [keptWatch] : [];
  if (statuses === undefined) return [keptWatch];
  if (!statuses.known) return overwriteIfLate(pass, post, keptWatch);
  const now = statuses.value.find((status) => status.context === post.context);
  if (now !== undefined && mayOpenMerge(now)) {
    record.pendingStatuses = record.pendingStatuses.filter((each) => each !== waiting);
    takeBackLate(record, post);
    pass.log.push(`a success on ${post.sha} was carried out late and is taken back`);
    return post.posts > 1 ? [{ ...post, posts: post.posts - 1, lookAt: s.now + UNHEARD_LOOK_MS_MIN }] : [];
  }
  const ageMs = s.now - post.since;
  if (ageMs >= UNHEARD_WATCH_MS) return [];
  const soonMs = Math.max(UNHEARD_LOOK_MS_MIN, Math.min(UNHEARD_LOOK_MS_MAX, Math.round(ageMs / 2)));
  return [{ ...post, lookAt: nextLookAt(post, s.now, soonMs) }];
}

/** The next look at it, one of them right at the end of its time: a success that came by then is seen before others may land. */
function nextLookAt({ since }: UnheardPost, now: EpochMs, soonMs: number): EpochMs {
  const lateAt = since + SUCCESS_LATE_MS;
  return now < lateAt ? Math.min(now + soonMs, lateAt) : now + soonMs;
}

/** The success may be there by now, and no reading says so: the head is written over before another may land. */
function overwriteIfLate(
  { record, s, log }: DecisionContext,
  post: UnheardPost,
  keptWatch: UnheardPost,
): readonly UnheardPost[] {
  const ageMs = s.now - post.since;
  if (ageMs < SUCCESS_LATE_MS) return [keptWatch];
  // A forge that answers nothing at all is given time as a whole. Until then each look asks again, whatever set it off.
  const forgeAnswersOtherwise = s.base.known || (s.full && s.pulls.known);
  if (!forgeAnswersOtherwise && ageMs < UNHEARD_WATCH_MS) return [{ ...post, lookAt: s.now }];
  takeBackLate(record, post);
  log.push(`${post.sha} cannot be read, and is written over`);
  return [];
}

function takeBackLate(record: QueueRecord, { pr, sha, context, isUnwritable }: UnheardPost): void {
  record.pendingStatuses.push({
    pr,
    sha,
    context,
    ...wordsOver(record, { pr, sha }),
    targetUrl: null,
    takesBack: true,
    // A status that could not be written before is not tried for long before a person is told.
    ...(isUnwritable === true ? { failures: TAKING_BACK_TRIES_MAX } : {}),
  });
  // These stand over the words about its place, which are said anew.
  for (const entry of record.entries) if (entry.head === sha && entry.readyAt !== null) delete entry.said;
}

/** The words to write over a late success: those that hold of the pull request, where some tell its author what to do. */
function wordsOver(
  record: QueueRecord,
  { pr, sha: head }: Pick<UnheardPost, 'pr' | 'sha'>,
): Pick<PendingStatus, 'state' | 'description'> {
  const entry = entryOf(record, pr);
  const own = entry?.head === head ? entry : undefined;
  const isTestedAgain = own !== undefined && !isBounced(record, own);
  // The words of a bounce are its memory where this record is lost (D-05).
  const bounce = isTestedAgain ? undefined : bounceOf(record, { pr, head });
  if (bounce !== undefined) return { state: 'error', description: describeEarlierBounce(bounce) };
  const refusedFor = own?.refusedFor ?? null;
  if (refusedFor !== null) return { state: 'error', description: describeRefusal(refusedFor) };
  return { state: 'pending', description: describeStaleSuccess() };
}
