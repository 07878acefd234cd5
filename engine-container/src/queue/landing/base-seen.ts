import type { EpochMs } from '#core/domain/ids.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { requiresContext } from '../admission/admission.ts';
import { landingOf } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { type QueueRecord, treeOf } from '../record/record.ts';
import { isProvenStep } from './given-up.ts';
import { alarmBase, searchOutside } from './merged-outside.ts';

/**
 * Keeps the tip of the base, and alarms when it moved although only the queue can open a merge, or could when that tip was kept: what
 * is on it is not verified now (A39). A batch that ends puts its verified tip here.
 */
export function noticeBase(pass: DecisionContext): void {
  const { record, s } = pass;
  // A person who switches the queue on again has seen what is on it.
  if (record.unprovenBase !== undefined && record.unprovenBase.at < s.repo.enabledAt)
    delete record.unprovenBase;
  if (!s.full) return;
  if (s.base.known) judgeTip(pass);
  if (record.baseSeen === null || record.baseSeen.isGuarded === true || !isGuarded(pass)) return;
  record.baseSeen = { ...record.baseSeen, isGuarded: true };
}

function judgeTip(pass: DecisionContext): void {
  const { record, s } = pass;
  if (!s.base.known) return;
  const { sha, tree } = s.base.value;
  const seen = record.baseSeen;
  const seenAt = seen?.at ?? Number.NEGATIVE_INFINITY;
  // A base that moved while the queue was off was not bypassed.
  const watched = s.repo.queueEnabled && seenAt >= s.repo.enabledAt;
  if (seen?.sha === sha && watched) return;
  // It may be the merge that is awaited: said once that is decided, and not forgotten until then.
  if (record.tip !== sha && landingOf(record) !== null) return;
  const wasGuarded = watched && (seen?.isGuarded === true || isGuardedSince(s.repo, seenAt));
  const guarded = isGuarded(pass);
  // A rule that could not be read may stand: judged once it is read.
  if (guarded === null && !wasGuarded && watched && seen !== null) return;
  record.baseSeen = { sha, tree, at: s.now, ...(wasGuarded ? { isGuarded: true } : {}) };
  const isWatchedMove = seen !== null && seen.sha !== sha && watched && (wasGuarded || guarded === true);
  if (!isWatchedMove || record.tip === sha) return;
  // The state is what it was: a second merge of a head that had landed, for example.
  if (seen.tree === tree || isTreeOfTip(record, tree) || isProvenStep(record, seen.sha, tree)) return;
  // Told once: where the rule is gone, each further move is of a base that the queue is known not to guard.
  record.baseSeen = { sha, tree, at: s.now };
  record.unprovenBase = { sha, at: s.now };
  searchOutside(pass, seen.sha, sha);
  alarmBase(pass, sha);
}

/** Has the service set the guard since this time? No look may have come between that and the end of the rule. */
function isGuardedSince({ provisioning }: ManagedRepo, seenAt: EpochMs): boolean {
  const { protection, lastProvisionedAt } = provisioning;
  const { kind, reasons } = protection;
  return (
    kind === 'required' && !reasons.includes('direct_push_allowed') && (lastProvisionedAt ?? 0) >= seenAt
  );
}

/** Does the rule that governs the base now let nothing but the queue open a merge? Null: it could not be read. */
function isGuarded({ record, s: { protection } }: DecisionContext): boolean | null {
  if (!protection.known) return null;
  const { value: rule } = protection;
  return rule !== null && !rule.directPushAllowed && requiresContext(rule, record.context);
}

/** The tree of the base by our latest landing. */
function isTreeOfTip(record: QueueRecord, tree: string): boolean {
  const bottom = record.batches.find((batch) => batch.stagedOn === null && batch.tip === record.tip);
  return bottom !== undefined && treeOf(bottom, bottom.landed) === tree;
}
