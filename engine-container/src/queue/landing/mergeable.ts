import type { TreeHash } from '#core/domain/ids.ts';
import {
  MERGEABLE_WAIT_MS,
  UNMERGEABLE_PAUSE_MS,
  UNMERGEABLE_REFUSED_AFTER_MS,
} from '#core/domain/limits.ts';
import { defer, startTeardown } from '../batches/batch.ts';
import { type DecisionContext, entryOf, pollNoLaterThan, wakeNoLaterThan } from '../decision-context.ts';
import { type Batch, type Fate, type Member, treeOf } from '../record/record.ts';
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

/** The one that is to land next is set aside: the forge calls it not mergeable. */
export function setNextAside(pass: DecisionContext, batch: Batch): void {
  const member = batch.members[batch.landed];
  if (member === undefined) return;
  batch.fates.push(setUnmergeableAside(pass, member, treeOf(batch, batch.landed) ?? batch.groundTree));
}

/** A check that is slow is asked again after a pause, once: others are torn down with it each time. */
function setUnmergeableAside(pass: DecisionContext, member: Member, baseTree: TreeHash): Fate {
  const entry = entryOf(pass.record, member.pr);
  const { now } = pass.s;
  const earlier = entry?.unmergeable;
  if (earlier?.head === member.head) {
    const until = earlier.since + UNMERGEABLE_REFUSED_AFTER_MS;
    return defer(pass, member, { reason: 'not_mergeable', baseTree, until, isHeld: true });
  }
  if (entry !== undefined) entry.unmergeable = { head: member.head, since: now };
  return defer(pass, member, {
    reason: 'not_mergeable',
    baseTree,
    until: now + UNMERGEABLE_PAUSE_MS,
  });
}
