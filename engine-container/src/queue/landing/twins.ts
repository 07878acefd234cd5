import { askersOf, type DecisionContext, entryOf, isMergedHere } from '../decision-context.ts';
import type { Landing } from '../record/landing-state.ts';
import { authored } from '../record/queue-entry.ts';
import type { Batch } from '../record/record.ts';
import type { FocusView, MergeView } from '../snapshot.ts';
import { hasEverLanded } from './landed.ts';
import { isMergeOf } from './proof.ts';
import { replaceMember } from './twin-names.ts';

/** The landing that another pull request has become, and its merge. */
export interface TwinLanding {
  readonly landing: Landing;
  readonly merge: MergeView;
}

/**
 * One success opens every scheduled pull request with this head, and the forge merges first which it comes to first. The
 * tree is the proven one all the same: the landing is that of its twin, and the one it was meant for stays in the queue.
 */
export function adoptTwin(pass: DecisionContext, batch: Batch, landing: Landing): TwinLanding | null {
  for (const [pr, view] of pass.s.focus) {
    if (!view.known || !isTwinMerge(pass, landing, view.value)) continue;
    const { pull, merge } = view.value;
    if (merge?.known !== true) continue;
    const scheduleId = entryOf(pass.record, pr)?.scheduleId ?? 0;
    const member = { pr, head: landing.head, scheduleId, title: pull.title, ...authored(pull) };
    replaceMember(batch, landing.index, member);
    const { scheduledBy: _, approvedBy: __, ...meant } = landing;
    batch.landing = { ...meant, pr, ...askersOf(pass.record, pr, landing.head) };
    return { landing: batch.landing, merge: merge.value };
  }
  return null;
}

/**
 * Merged by the success of a landing that was meant for another one with the same head, or not known not to be: as long as
 * its merge cannot be read, it is not told as one that went past the queue.
 */
export function mayBeTwinOfLanding(pass: DecisionContext, focus: FocusView): boolean {
  return pass.record.batches.some(
    ({ landing }) =>
      landing !== null &&
      isMergedTwin(pass, landing, focus) &&
      (focus.merge?.known !== true || isMergeOf(landing, focus.merge.value)),
  );
}

function isTwinMerge(pass: DecisionContext, landing: Landing, focus: FocusView): boolean {
  return (
    isMergedTwin(pass, landing, focus) && focus.merge?.known === true && isMergeOf(landing, focus.merge.value)
  );
}

function isMergedTwin(pass: DecisionContext, landing: Landing, { pull }: FocusView): boolean {
  if (pull.number === landing.pr || pull.headSha !== landing.head || !isMergedHere(pass, pull)) return false;
  // A pull request merges once. After a revert the tree of its merge may be the proven one again.
  return !hasEverLanded(pass.record, pull.number);
}
