import { requiresContext } from '../admission/admission.ts';
import { landingOf } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { type QueueRecord, treeOf } from '../record/record.ts';
import { isProvenStep } from './given-up.ts';
import { alarmBase, searchOutside } from './merged-outside.ts';

/**
 * Keeps the tip of the base, and alarms when it moved although only the queue can open a merge: what is on it is not verified
 * now (A39). A batch that ends puts its verified tip here.
 */
export function noticeBase(pass: DecisionContext): void {
  const { record, s } = pass;
  if (!s.full || !s.base.known) return;
  const { sha, tree } = s.base.value;
  const seen = record.baseSeen;
  const seenAt = seen?.at ?? Number.NEGATIVE_INFINITY;
  // A base that moved while the queue was off was not bypassed.
  const watched = s.repo.queueEnabled && seenAt >= s.repo.enabledAt;
  if (seen?.sha === sha && watched) return;
  // It may be the merge that is awaited: said once that is decided, and not forgotten until then.
  if (record.tip !== sha && landingOf(record) !== null) return;
  record.baseSeen = { sha, tree, at: s.now };
  const guarded =
    s.protection.known &&
    s.protection.value !== null &&
    !s.protection.value.directPushAllowed &&
    requiresContext(s.protection.value, record.context);
  if (seen === null || seen.sha === sha || !watched || !guarded || record.tip === sha) return;
  // The state is what it was: a second merge of a head that had landed, for example.
  if (seen.tree === tree || isTreeOfTip(record, tree) || isProvenStep(record, seen.sha, tree)) return;
  searchOutside(pass, seen.sha, sha);
  alarmBase(pass, sha);
}

/** The tree of the base by our latest landing. */
function isTreeOfTip(record: QueueRecord, tree: string): boolean {
  const bottom = record.batches.find((batch) => batch.stagedOn === null && batch.tip === record.tip);
  return bottom !== undefined && treeOf(bottom, bottom.landed) === tree;
}
