import type { EpochMs } from '#core/domain/ids.ts';
import {
  MERGEABLE_WAIT_MS,
  UNMERGEABLE_LANDING_MS,
  UNMERGEABLE_REFUSED_AFTER_MS,
} from '#core/domain/limits.ts';
import { defer } from '../batches/defer.ts';
import { startTeardown } from '../batches/end-batch.ts';
import { type DecisionContext, pollNoLaterThan, wakeNoLaterThan } from '../decision-context.ts';
import type { Landing } from '../record/landing-state.ts';
import { type Batch, treeOf } from '../record/record.ts';
import type { FocusView } from '../snapshot.ts';
import { firstLookAfter, nextLookMs } from './landing-pace.ts';

/**
 * True where the forge would merge now; else the wait is begun here. "Not mergeable" also means "still checking": only one that
 * lasts is a conflict, and is set aside (E4; forge facts, 2).
 */
export function awaitMergeable(pass: DecisionContext, batch: Batch, focus: FocusView): boolean {
  if (focus.pull.mergeable) {
    if (batch.unmergeableSince !== null) {
      const checkMs = firstLookAfter(pass.s.now - batch.unmergeableSince, batch.firstLooks?.checkMs);
      batch.firstLooks = { ...batch.firstLooks, checkMs };
    }
    batch.unmergeableSince = null;
    return true;
  }
  batch.unmergeableSince ??= pass.s.now;
  const until = batch.unmergeableSince + MERGEABLE_WAIT_MS;
  if (pass.s.now < until) {
    pollNoLaterThan(pass, nextLookMs(pass.s.now - batch.unmergeableSince, batch.firstLooks?.checkMs));
    wakeNoLaterThan(pass, until);
    return false;
  }
  setNextAside(pass, batch);
  startTeardown(pass, batch, 'merge_conflict');
  return false;
}

/** The one that is to land next is set aside until the forge calls it mergeable: each further try would cost the others a run. */
export function setNextAside(pass: DecisionContext, batch: Batch): void {
  const member = batch.members[batch.landed];
  if (member === undefined) return;
  const baseTree = treeOf(batch, batch.landed) ?? batch.groundTree;
  const until = pass.s.now + UNMERGEABLE_REFUSED_AFTER_MS;
  batch.fates.push(defer(pass, member, { reason: 'not_mergeable', baseTree, until }));
}

/** A pull request may have been mergeable, when its `success` was posted, only by a check of an earlier base. */
export function isForgeConflict({ unmergeableSince }: Landing, now: EpochMs): boolean {
  return unmergeableSince !== undefined && now - unmergeableSince >= UNMERGEABLE_LANDING_MS;
}

export function noteMergeable(landing: Landing, isMergeable: boolean, now: EpochMs): void {
  if (isMergeable) delete landing.unmergeableSince;
  else landing.unmergeableSince ??= now;
}
