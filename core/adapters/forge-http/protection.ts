import { chooseGoverningRule } from '#core/domain/forge/branch-rule.ts';
import type { BranchProtection } from '#core/domain/forge/forge.ts';
import { parseFilePatterns } from '#core/domain/forge/protected-files.ts';
import { readBranch } from './branches.ts';
import { readBody } from './wire/read-body.ts';
import { type ProtectionRow, ProtectionRows } from './wire/schema.ts';
import { type ForgeTransport, unusable } from './wire/transport.ts';

/** The rule that governs `base`, null when none does. In full for a repository administrator, else the branch's summary. */
export async function readProtection(
  transport: ForgeTransport,
  base: string,
): Promise<BranchProtection | null> {
  const call = {
    method: 'GET',
    label: 'GET branch_protections',
    path: [...transport.repoPath, 'branch_protections'],
  } as const;
  const answer = await transport.exchange(call);
  // 404 to hide the endpoint, 403 to refuse it: both mean that the bot is no administrator.
  if (answer.isJson && (answer.status === 403 || answer.status === 404)) return readSummary(transport, base);
  if (answer.status !== 200) throw transport.failure(call, answer);
  const rows = readBody(ProtectionRows, call, answer);
  const rules = rows
    .filter((row) => row !== null)
    .map((row) => ({
      row,
      name: nameOf(row),
      priority: row.priority ?? null,
      createdAt: row.created_at,
    }));
  const choice = chooseGoverningRule(rules, base);
  if (choice.kind === 'found') return toProtection(choice.rule.row);
  if (choice.kind === 'none') return null;
  const told = await readBranch(transport, base);
  if (!told.protected) return null;
  const obeyed = rules.find(({ name }) => name === told.effective_branch_protection_name);
  // The rules changed between the two answers, or the bot was made no administrator: asked again at the next look.
  if (obeyed === undefined) throw unusable(call, answer.status);
  return toProtection(obeyed.row);
}

export function nameOf(row: ProtectionRow): string {
  return row.rule_name === '' ? row.branch_name : row.rule_name;
}

function toProtection(row: ProtectionRow): BranchProtection {
  const patterns = parseFilePatterns(row.protected_file_patterns);
  return {
    scope: 'full',
    ruleName: nameOf(row),
    statusCheckEnabled: row.enable_status_check,
    requiredContexts: row.status_check_contexts,
    requiredApprovals: row.required_approvals,
    blockOnRejectedReviews: row.block_on_rejected_reviews,
    blockOnOfficialReviewRequests: row.block_on_official_review_requests,
    blockOnOutdatedBranch: row.block_on_outdated_branch,
    ignoreStaleApprovals: row.ignore_stale_approvals,
    dismissStaleApprovals: row.dismiss_stale_approvals,
    directPushAllowed: row.enable_push,
    ...(mayBypass(row) ? { bypassAllowed: true } : {}),
    ...(hasPushableFiles(row) ? { filesPushable: true } : {}),
    ...(patterns.length > 0 ? { protectedFilePatterns: patterns } : {}),
    ...(row.enable_merge_whitelist ? mergersOf(row) : {}),
    ...(row.require_signed_commits ? { requiresSigned: true } : {}),
  };
}

/** Whether the rule lets some people merge without what it asks for. */
export function mayBypass(row: ProtectionRow): boolean {
  const { bypass_allowlist_usernames: people, bypass_allowlist_teams: teams } = row;
  return row.enable_bypass_allowlist && people.length + teams.length > 0;
}

/** Whether the rule lets each account that may write push changes of some files past it, also where it allows no pushes. */
export function hasPushableFiles(row: ProtectionRow): boolean {
  return parseFilePatterns(row.unprotected_file_patterns).length > 0;
}

function mergersOf(row: ProtectionRow): Pick<BranchProtection, 'mergeList' | 'mergeTeams'> {
  const { merge_whitelist_usernames: mergeList, merge_whitelist_teams: mergeTeams } = row;
  return mergeTeams.length === 0 ? { mergeList } : { mergeList, mergeTeams };
}

/** Reads the branch's summary. Flags that it lacks read false, and `scope` says that they were not read. */
async function readSummary(transport: ForgeTransport, base: string): Promise<BranchProtection | null> {
  const branch = await readBranch(transport, base);
  if (!branch.protected) return null;
  const name = branch.effective_branch_protection_name;
  return {
    scope: 'summary',
    ruleName: name === '' ? null : name,
    statusCheckEnabled: branch.enable_status_check,
    requiredContexts: branch.status_check_contexts,
    requiredApprovals: branch.required_approvals,
    blockOnRejectedReviews: false,
    blockOnOfficialReviewRequests: false,
    blockOnOutdatedBranch: false,
    ignoreStaleApprovals: false,
    dismissStaleApprovals: false,
    directPushAllowed: branch.user_can_push,
  };
}
