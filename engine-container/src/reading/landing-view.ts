import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { TAKE_BACK_GRACE_MS } from '#core/domain/limits.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import { known, type Reading } from '#core/domain/result.ts';
import { landingBatchOf, landingOf, nextToLand, provenLength } from '../queue/batches/pipeline.ts';
import { isOfForge } from '../queue/landing/blockers.ts';
import { isMergeOf } from '../queue/landing/proof.ts';
import { type Ground, type QueueRecord, treeOf } from '../queue/record/record.ts';
import type { FocusView, Snapshot } from '../queue/snapshot.ts';

/** One page of commits tells of so many landings that no style has several commits for. */
const UNTRACED_MAX = 40;
/** A landing is told at the latest after this. */
const UNTRACED_AGE_MS = 20_000;

export function isPosted(record: QueueRecord): boolean {
  return landingOf(record)?.postedAt != null;
}

/** A merge that takes so long may be blocked; before its time-out counts for anything the forge is asked why (D-14). */
export function isBlockerLookDue(record: QueueRecord, now: EpochMs): boolean {
  const landing = landingOf(record);
  if (landing === null || landing.postedAt === null) return false;
  const { takeBack, nudges, blockerLooks = 0 } = landing;
  // The first nudge is for a trigger that was lost.
  if (takeBack === null) return blockerLooks < nudges - 1;
  return (
    isOfForge(takeBack.reason) && takeBack.postedAt !== null && now >= takeBack.postedAt + TAKE_BACK_GRACE_MS
  );
}

export function nextPullRequest(record: QueueRecord): PullRequestNumber | null {
  const batch = nextToLand(record);
  return batch === null ? null : (batch.landing?.pr ?? batch.members[batch.landed]?.pr ?? null);
}

/** The base is what the landing was to make of it, and its own pull request is not merged: another one with its head was. */
export function isMergedForAnother(record: QueueRecord, focus: Snapshot['focus']): boolean {
  const landing = landingOf(record);
  const view = landing === null ? undefined : focus.get(landing.pr);
  if (landing === null || view?.known !== true) return false;
  const { strangeTip } = view.value;
  return strangeTip?.known === true && isMergeOf(landing, strangeTip.value);
}

/** The proven member behind one whose `success` stands; null when there is none. */
export function nextBehindLanding(record: QueueRecord): PullRequestNumber | null {
  const batch = landingBatchOf(record);
  const landing = batch?.landing;
  if (batch === undefined || landing == null || landing.postedAt === null || landing.takeBack !== null)
    return null;
  if (provenLength(record, batch) > landing.index + 1) return batch.members[landing.index + 1]?.pr ?? null;
  return null;
}

/** The one behind a landing shows that the merge has not come yet: nothing follows from anything else about it. */
export function isBehindOldTip(record: QueueRecord, { number, baseTip }: PullRequest): boolean {
  return number === nextBehindLanding(record) && baseTip === landingOf(record)?.baseBefore;
}

/** May the `success` of this pull request follow this very look? The one before it has merged, or none is awaited. */
export function isNextToPost(record: QueueRecord, pull: PullRequest): boolean {
  if (pull.number === nextBehindLanding(record)) return !isBehindOldTip(record, pull);
  return pull.number === nextPullRequest(record) && !isPosted(record);
}

/** The tree of the tip that we verified ourselves; a halt says that one of them is another. */
export function verifiedTipTree(record: QueueRecord, sha: CommitSha): string | null {
  if (record.tip !== sha || record.halted !== null) return null;
  const batch = record.batches.find((each) => each.stagedOn === null && each.tip === sha);
  return batch === undefined ? null : (treeOf(batch, batch.landed) ?? null);
}

/** A pull request shows the live tip of its base, which may be another one by now: one call tells about both. */
export function tipFromPull(view: Reading<FocusView>, baseBranch: string): CommitSha | null {
  if (!view.known) return null;
  const { pull } = view.value;
  return pull.merged || pull.baseRef !== baseBranch ? null : pull.baseTip;
}

/** The base, from whichever of these stands on it. */
export function baseFromFocus(
  record: QueueRecord,
  focus: ReadonlyMap<PullRequestNumber, Reading<FocusView>>,
  baseBranch: string,
): Reading<Ground> | null {
  if (record.batches.length === 0) return null;
  for (const view of focus.values()) {
    const tip = tipFromPull(view, baseBranch);
    if (tip !== null) return known(baseAt(record, tip));
  }
  return null;
}

/** The tip of the base as far as the queue knows it. The tree of an unverified tip was never read: it counts as another tree, which is enough. */
export function baseAt(record: QueueRecord, sha: CommitSha): Ground {
  return { sha, tree: verifiedTipTree(record, sha) ?? '' };
}

/** Landings whose line of parents is not read yet, oldest first. */
export function untracedOf(record: QueueRecord): readonly Receipt[] {
  return record.batches.flatMap((batch) => (batch.untraced ?? []).map(({ receipt }) => receipt));
}

/** One read tells of all landings of a batch: it waits for the last of them, unless that takes long or a gate run may still end. */
export function areLinesDue(record: QueueRecord, now: EpochMs): boolean {
  const [oldest, ...others] = untracedOf(record);
  if (oldest === undefined) return false;
  if (others.length + 1 >= UNTRACED_MAX || now - oldest.landedAt >= UNTRACED_AGE_MS) return true;
  const batch = nextToLand(record);
  if (batch === null || batch.teardown !== null) return true;
  return record.batches.some(
    ({ untraced, nodes }) => (untraced ?? []).length > 0 && nodes.some(({ state }) => state === 'gating'),
  );
}
