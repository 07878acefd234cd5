import type { BranchProtection, Review } from '#core/domain/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { compileGlob } from '../../../local/forge/globs.ts';
import type { Pull, World } from './world.ts';

const patterns = new Map<string, RegExp>();

/** Required contexts are globs in which `*` crosses slashes. */
function matchesContext(pattern: string, context: string): boolean {
  let glob = patterns.get(pattern);
  if (glob === undefined) {
    glob = compileGlob(pattern, { separator: false });
    patterns.set(pattern, glob);
  }
  return glob.test(context);
}

export function ruleOf(world: World, base: string): BranchProtection | null {
  return world.rules.get(base) ?? null;
}

/** Every required pattern needs a status, and every status that a pattern finds must be a literal success. */
export function requiredStatusesPass(world: World, pull: Pull, sha: CommitSha): boolean {
  const rule = ruleOf(world, pull.base);
  if (rule === null || !rule.statusCheckEnabled) return true;
  const latest = [...(world.statuses.get(sha)?.latest.values() ?? [])];
  if (rule.requiredContexts.length === 0) {
    return latest.length > 0 && latest.every((status) => status.state === 'success');
  }
  return rule.requiredContexts.every((pattern) => {
    const matched = latest.filter((status) => matchesContext(pattern, status.context));
    return matched.length > 0 && matched.every((status) => status.state === 'success');
  });
}

/** Why the rule forbids the merge, statuses apart; null when it does not. */
export function findRuleViolation(world: World, pull: Pull): string | null {
  const rule = ruleOf(world, pull.base);
  if (rule === null) return null;
  const counted = pull.reviews.filter((review) => review.official && !review.dismissed);
  const approvals = counted.filter((review) => isCountedApproval(rule, review));
  if (approvals.length < rule.requiredApprovals) return 'not enough approvals';
  if (rule.blockOnRejectedReviews && counted.some((review) => review.state === 'changes_requested')) {
    return 'changes requested';
  }
  if (rule.blockOnOfficialReviewRequests && counted.some((review) => review.state === 'review_requested')) {
    return 'review requested';
  }
  if (rule.blockOnOutdatedBranch && isOutdated(world, pull)) return 'outdated branch';
  return null;
}

function isCountedApproval(rule: BranchProtection, review: Review): boolean {
  return review.state === 'approved' && !(rule.ignoreStaleApprovals && review.stale);
}

function isOutdated(world: World, pull: Pull): boolean {
  const tip = world.branches.get(pull.base);
  return tip !== undefined && !world.objects.isAncestor(tip, pull.pullHead);
}
