import type { BranchRule } from '#core/domain/forge/branch-rule.ts';
import { hasPushableFiles, mayBypass, nameOf } from './protection.ts';
import { readBody } from './wire/read-body.ts';
import { ProtectionRow } from './wire/schema.ts';
import { RawRule, RawRules } from './wire/schema-admin.ts';
import type { ForgeAnswer, ForgeCall, ForgeTransport } from './wire/transport.ts';

/** Lists every rule of the repository, for its administrators. The list has no pages. */
export async function listRules(transport: ForgeTransport): Promise<readonly BranchRule[]> {
  const call = {
    method: 'GET',
    label: 'GET branch_protections',
    path: [...transport.repoPath, 'branch_protections'],
  } as const;
  const answer = await transport.request(call);
  return readBody(RawRules, call, answer)
    .filter((raw) => raw !== null)
    .map((raw) => toRule(call, answer, raw));
}

export async function createRule(
  transport: ForgeTransport,
  fields: Readonly<Record<string, unknown>>,
): Promise<BranchRule> {
  const call = {
    method: 'POST',
    label: 'POST branch_protections',
    path: [...transport.repoPath, 'branch_protections'],
    body: fields,
  } as const;
  const answer = await transport.request(call);
  return toRule(call, answer, readBody(RawRule, call, answer));
}

/** Edits a rule. Fields that are left out stay as they are; a list replaces the old one whole. */
export async function editRule(
  transport: ForgeTransport,
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<BranchRule> {
  const call = {
    method: 'PATCH',
    label: 'PATCH branch_protections/{name}',
    // One segment: a slash in the name is escaped.
    path: [...transport.repoPath, 'branch_protections', name],
    body: fields,
  } as const;
  const answer = await transport.request(call);
  return toRule(call, answer, readBody(RawRule, call, answer));
}

function toRule(call: ForgeCall, answer: ForgeAnswer, raw: Readonly<Record<string, unknown>>): BranchRule {
  const row = readBody(ProtectionRow, call, { ...answer, value: raw });
  return {
    name: nameOf(row),
    priority: row.priority ?? null,
    createdAt: row.created_at,
    statusCheckEnabled: row.enable_status_check,
    contexts: row.status_check_contexts,
    blockOnOutdatedBranch: row.block_on_outdated_branch,
    directPushAllowed: row.enable_push,
    bypassAllowed: mayBypass(row),
    filesPushable: hasPushableFiles(row),
    raw,
  };
}
