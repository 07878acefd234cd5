import type { CommitSha } from '#core/domain/ids.ts';
import { LANDING_POLL_MS_MAX, LANDING_POLL_MS_MIN, LANDING_TIMEOUT_MS } from '#core/domain/limits.ts';

/** At which age to look first, from how long the earlier ones of the batch took. Absent: none was awaited. */
export interface FirstLooks {
  /** Age of a `success`, for its merge. */
  readonly mergeMs?: number;
  /** Since the merge before, for the conflict check of the next member. */
  readonly checkMs?: number;
}

/** The first look where no earlier one tells how long it takes. */
const FIRST_LOOK_MS = 500;
/** Each further look comes after this share of the age: what is awaited is seen late by so much at most. */
const FURTHER_LOOK_SHARE = 0.2;
/** A merge that was done at the first look was done for an unknown time: the next first look comes so much sooner. */
const SOONER_SHARE = 0.6;
/** A merge that was seen later was done before that look. */
const SEEN_SHARE = 0.75;
/** One slow merge says little about the next. */
const LATER_SHARE_MAX = 1.5;

/** A forge calls merged within seconds what it has fast-forwarded. */
const HEAD_CALLED_MERGED_MS = 30_000;

/**
 * For how long after a success the forge may still call its pull request merged, where the base ends with what looks like its merge. A
 * tip that is the head itself may be the push of a person past the queue: then the forge has nothing to merge, and no merge comes. One
 * that is called merged later all the same is told as a late landing.
 */
export function calledMergedMs(head: CommitSha, tip: CommitSha): number {
  return tip === head ? HEAD_CALLED_MERGED_MS : LANDING_TIMEOUT_MS;
}

/**
 * How long to wait until the next look at what the forge does in its own time, such as a merge.
 *
 * @param ageMs - since it was asked for
 * @param firstMs - the age for the first look
 */
export function nextLookMs(ageMs: number, firstMs = FIRST_LOOK_MS): number {
  const soonMs = Math.max(LANDING_POLL_MS_MIN, ageMs * FURTHER_LOOK_SHARE, firstMs - ageMs);
  return Math.round(Math.min(LANDING_POLL_MS_MAX, soonMs));
}

/**
 * The age for the first look at the next merge, so that few looks come too early and none long after the merge.
 *
 * @param seenMs - the age at which the latest merge was seen
 * @param firstMs - the age for the first look at that one
 */
export function firstLookAfter(seenMs: number, firstMs = FIRST_LOOK_MS): number {
  const isSeenAtOnce = seenMs < firstMs + LANDING_POLL_MS_MIN;
  const nextMs = isSeenAtOnce
    ? firstMs * SOONER_SHARE
    : Math.min(seenMs * SEEN_SHARE, firstMs * LATER_SHARE_MAX);
  return Math.round(Math.max(LANDING_POLL_MS_MIN, nextMs));
}
