import { compileGlob, isGlob, tryCompileGlob } from '../globs.ts';
import type { ProtectionRule, PullRecord, RepoRecord, ReviewRecord } from '../model.ts';
import { hasAccess, takeId, type World } from '../world.ts';
import { combineStates, latestStatuses, meetsPattern } from './statuses.ts';

/** All false, as the forge creates a rule: no account can push, every account with write can merge. */
export function createRule(world: World, ruleName: string): ProtectionRule {
  const now = world.timers.now();
  return {
    id: takeId(world),
    rule_name: ruleName,
    enable_push: false,
    enable_push_whitelist: false,
    push_whitelist_usernames: [],
    enable_merge_whitelist: false,
    merge_whitelist_usernames: [],
    merge_whitelist_teams: [],
    enable_status_check: false,
    status_check_contexts: [],
    required_approvals: 0,
    enable_approvals_whitelist: false,
    approvals_whitelist_username: [],
    block_on_rejected_reviews: false,
    block_on_official_review_requests: false,
    block_on_outdated_branch: false,
    dismiss_stale_approvals: false,
    ignore_stale_approvals: false,
    require_signed_commits: false,
    protected_file_patterns: '',
    unprotected_file_patterns: '',
    enable_bypass_allowlist: false,
    bypass_allowlist_usernames: [],
    applies_to_admins: false,
    priority: 0,
    created_at: now,
    updated_at: now,
  };
}

export function ruleMatches(world: World, rule: ProtectionRule, branch: string): boolean {
  if (!isGlob(rule.rule_name)) return rule.rule_name.toLowerCase() === branch.toLowerCase();
  return compileGlob(rule.rule_name, { separator: true, reader: world.profile.globs }).test(branch);
}

/** Rules do not add up: the first that matches governs. Plain names go before globs, older before newer. */
export function ruleFor(world: World, repo: RepoRecord, branch: string): ProtectionRule | null {
  const ordered = [...repo.rules].sort(
    (a, b) =>
      (world.profile.rulePriorities ? a.priority - b.priority : 0) ||
      Number(isGlob(a.rule_name)) - Number(isGlob(b.rule_name)) ||
      a.id - b.id,
  );
  return ordered.find((rule) => ruleMatches(world, rule, branch)) ?? null;
}

export function mayPush(world: World, repo: RepoRecord, branch: string, login: string): boolean {
  if (!hasAccess(world, repo, login, 'write')) return false;
  const rule = ruleFor(world, repo, branch);
  if (rule === null) return true;
  if (!rule.enable_push) return false;
  return !rule.enable_push_whitelist || rule.push_whitelist_usernames.includes(login);
}

export function isOnMergeList(rule: ProtectionRule, repo: RepoRecord, login: string): boolean {
  const teams = (repo.teams ?? []).filter(({ name }) => rule.merge_whitelist_teams.includes(name));
  return rule.merge_whitelist_usernames.includes(login) || teams.some((team) => team.members.includes(login));
}

/** With a merge whitelist the repository permission is not asked. */
export function mayMerge(world: World, repo: RepoRecord, pull: PullRecord, login: string): boolean {
  const rule = ruleFor(world, repo, pull.base);
  if (rule?.enable_merge_whitelist === true) return isOnMergeList(rule, repo, login);
  return hasAccess(world, repo, login, 'write');
}

export function isOfficialReviewer(world: World, repo: RepoRecord, pull: PullRecord, login: string): boolean {
  const rule = ruleFor(world, repo, pull.base);
  if (rule?.enable_approvals_whitelist === true) return rule.approvals_whitelist_username.includes(login);
  return hasAccess(world, repo, login, 'write');
}

/** Why the rule of the base forbids the merge; null when it does not. */
export function protectionFailure(world: World, repo: RepoRecord, pull: PullRecord): string | null {
  const rule = ruleFor(world, repo, pull.base);
  if (rule === null) return null;
  if (!requiredStatusesPass(world, repo, rule, pull.headSha))
    return 'Not all required status checks successful';
  const counted = pull.reviews.filter((review) => review.official && !review.dismissed);
  if (countApprovals(rule, counted) < rule.required_approvals) return 'Does not have enough approvals';
  if (rule.block_on_rejected_reviews && counted.some((review) => review.state === 'REQUEST_CHANGES')) {
    return 'There are requested changes';
  }
  if (rule.block_on_official_review_requests && counted.some((review) => review.state === 'REQUEST_REVIEW')) {
    return 'There are official review requests';
  }
  if (rule.block_on_outdated_branch && pull.behind > 0) return 'The head branch is behind the base branch';
  if (rule.protected_file_patterns !== '' && pull.changesProtected === true) return 'Changed protected files';
  return null;
}

export function isProtectedPath(world: World, rule: ProtectionRule, path: string): boolean {
  return isNamedPath(world, rule.protected_file_patterns, path);
}

/** Whether each account that may write pushes a change of these files past the rule. */
export function areUnprotected(
  world: World,
  repo: RepoRecord,
  branch: string,
  paths: readonly string[],
): boolean {
  const patterns = ruleFor(world, repo, branch)?.unprotected_file_patterns ?? '';
  return patterns !== '' && paths.every((path) => isNamedPath(world, patterns, path));
}

/** Semicolons between them, letter case ignored; `*` stops at dots and slashes, a malformed one names nothing. */
function isNamedPath(world: World, patterns: string, path: string): boolean {
  return patterns
    .toLowerCase()
    .split(';')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '')
    .some(
      (pattern) =>
        tryCompileGlob(pattern, { separator: './', reader: world.profile.globs })?.test(
          path.toLowerCase(),
        ) === true,
    );
}

function countApprovals(rule: ProtectionRule, reviews: readonly ReviewRecord[]): number {
  return reviews.filter(
    (review) => review.state === 'APPROVED' && !(rule.ignore_stale_approvals && review.stale),
  ).length;
}

/**
 * Required contexts are globs without separators. Every one must match a latest status of the head, and those it
 * matches must let the merge through. A malformed one is left out. An empty list asks for all statuses, at least
 * one.
 */
export function requiredStatusesPass(
  world: World,
  repo: RepoRecord,
  rule: ProtectionRule,
  sha: string,
): boolean {
  if (!rule.enable_status_check) return true;
  const latest = latestStatuses(repo, sha);
  if (rule.status_check_contexts.length === 0) {
    return (
      combineStates(
        world,
        latest.map((status) => status.state),
      ) === 'success'
    );
  }
  return rule.status_check_contexts.every((pattern) => {
    const glob = tryCompileGlob(pattern, { separator: false, reader: world.profile.globs });
    if (glob === null) return true;
    const matched = latest.filter((status) => glob.test(status.context));
    return meetsPattern(
      world,
      matched.map((status) => status.state),
    );
  });
}
