import { hasForeignPattern } from '#core/domain/forge/branch-rule.ts';
import type { BranchProtection } from '#core/domain/forge/forge.ts';
import type { ProtectionReason } from '#core/domain/set-up/provisioning.ts';
import { requiresContext } from './admission.ts';

/** Notes to the owner about the rule that governs the base, no matter who wrote it. Empty: nothing is in the way. */
export function noteRule(protection: BranchProtection | null, context: string): readonly ProtectionReason[] {
  if (protection === null) return ['rule_missing'];
  const reasons: ProtectionReason[] = [];
  if (!requiresContext(protection, context)) {
    const asksForAll = protection.statusCheckEnabled && protection.requiredContexts.length === 0;
    reasons.push(asksForAll ? 'all_statuses_required' : 'context_not_required');
  } else if (hasForeignPattern(protection.requiredContexts, context)) reasons.push('foreign_pattern');
  // A bot that is no administrator is shown a summary, in which these flags do not mean what they are called.
  if (protection.scope === 'full') {
    if (protection.blockOnOutdatedBranch) reasons.push('block_on_outdated_branch');
    if (protection.directPushAllowed) reasons.push('direct_push_allowed');
    if (protection.bypassAllowed === true) reasons.push('bypass_allowed');
    if (protection.filesPushable === true) reasons.push('unprotected_files');
  }
  return reasons;
}

/** Beside the notes about the rule of the base, whether one covers the branches of the queue. */
export function withRuledBranch(
  reasons: readonly ProtectionReason[],
  isRuled: boolean,
): readonly ProtectionReason[] {
  const others = reasons.filter((reason) => reason !== 'staging_protected');
  return isRuled ? [...others, 'staging_protected'] : others;
}
