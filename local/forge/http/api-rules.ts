import type { Json } from '../convert/entities.ts';
import type { ProtectionRule } from '../model.ts';
import { requestChecksOfBase } from '../world/checks.ts';
import { createRule, ruleMatches } from '../world/protection.ts';
import { findUser, gitOf, timestamp, type World } from '../world.ts';
import { type Call, created, NO_CONTENT, ok, REPO, Refusal, type Route, route } from './router.ts';

type RuleFields = Omit<
  ProtectionRule,
  'id' | 'rule_name' | 'applies_to_admins' | 'priority' | 'created_at' | 'updated_at'
>;

const FLAGS = [
  'enable_push',
  'enable_push_whitelist',
  'enable_merge_whitelist',
  'enable_status_check',
  'enable_approvals_whitelist',
  'block_on_rejected_reviews',
  'block_on_official_review_requests',
  'block_on_outdated_branch',
  'dismiss_stale_approvals',
  'ignore_stale_approvals',
  'require_signed_commits',
  'enable_bypass_allowlist',
] as const satisfies readonly (keyof RuleFields)[];
const USER_LISTS = [
  'push_whitelist_usernames',
  'merge_whitelist_usernames',
  'approvals_whitelist_username',
  'bypass_allowlist_usernames',
] as const satisfies readonly (keyof RuleFields)[];
const TEXTS = [
  'protected_file_patterns',
  'unprotected_file_patterns',
] as const satisfies readonly (keyof RuleFields)[];

function convertRule(world: World, rule: ProtectionRule): Json {
  const { id: _id, applies_to_admins, priority, created_at, updated_at, ...fields } = rule;
  return {
    branch_name: rule.rule_name,
    ...fields,
    push_whitelist_teams: [],
    push_whitelist_deploy_keys: false,
    approvals_whitelist_teams: [],
    [world.profile.adminBypassField]: applies_to_admins,
    ...(world.profile.rulePriorities ? { priority } : {}),
    created_at: timestamp(created_at),
    updated_at: timestamp(updated_at),
  };
}

/** Absent or null keeps a field; a list replaces the old one whole. Refuses before anything is changed. */
function applyFields(call: Call, rule: ProtectionRule): void {
  const { body, world } = call;
  for (const name of USER_LISTS) {
    for (const login of listOf(body[name]) ?? []) {
      if (findUser(world, login) === undefined)
        throw new Refusal(422, `user does not exist [name: ${login}]`);
    }
  }
  const { teams = [] } = call.repo;
  for (const team of listOf(body.merge_whitelist_teams) ?? []) {
    if (!teams.some(({ name }) => name === team))
      throw new Refusal(422, `team does not exist [name: ${team}]`);
  }
  for (const name of FLAGS) {
    const value = body[name];
    if (typeof value === 'boolean') rule[name] = value;
  }
  for (const name of TEXTS) {
    const value = body[name];
    if (typeof value === 'string') rule[name] = value;
  }
  for (const name of [...USER_LISTS, 'merge_whitelist_teams'] as const)
    rule[name] = listOf(body[name]) ?? rule[name];
  rule.status_check_contexts = listOf(body.status_check_contexts) ?? rule.status_check_contexts;
  const approvals = body.required_approvals;
  if (typeof approvals === 'number' && approvals >= 0) rule.required_approvals = approvals;
  if (world.profile.rulePriorities && typeof body.priority === 'number') rule.priority = body.priority;
  const bypass = body[world.profile.adminBypassField];
  if (typeof bypass === 'boolean') rule.applies_to_admins = bypass;
  rule.updated_at = world.timers.now();
  world.store.changed();
}

function listOf(value: unknown): string[] | null {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : null;
}

function ruleOf(call: Call): ProtectionRule {
  const name = call.params.name ?? '';
  const rule = call.repo.rules.find((each) => each.rule_name === name);
  if (rule === undefined) throw new Refusal(404, "The target couldn't be found.");
  return rule;
}

/** Editing a rule sends every open pull request of its branches through the conflict check again. */
async function recheck(call: Call, rule: ProtectionRule): Promise<void> {
  for (const { name } of await gitOf(call.world, call.repo).branches()) {
    if (ruleMatches(call.world, rule, name)) requestChecksOfBase(call.world, call.repo, name);
  }
}

async function addRule(call: Call) {
  const { body, repo, world } = call;
  const name = body.rule_name ?? body.branch_name;
  if (typeof name !== 'string' || name === '')
    throw new Refusal(400, 'both rule_name and branch_name are empty');
  if (repo.rules.some((rule) => rule.rule_name === name))
    throw new Refusal(403, 'Branch protection already exist');
  const rule = createRule(world, name);
  rule.priority = Math.max(0, ...repo.rules.map((other) => other.priority)) + 1;
  // 0 counts as "not given".
  applyFields(body.priority === 0 ? { ...call, body: { ...body, priority: null } } : call, rule);
  repo.rules.push(rule);
  await recheck(call, rule);
  return created(convertRule(world, rule));
}

async function editRule(call: Call) {
  const rule = ruleOf(call);
  applyFields(call, rule);
  await recheck(call, rule);
  return ok(convertRule(call.world, rule));
}

function deleteRule(call: Call) {
  const rule = ruleOf(call);
  call.repo.rules = call.repo.rules.filter((other) => other !== rule);
  call.world.store.changed();
  return NO_CONTENT;
}

function orderRules(call: Call) {
  if (!call.world.profile.rulePriorities) throw new Refusal(404, 'Not Found');
  const ids = Array.isArray(call.body.ids) ? call.body.ids : [];
  for (const rule of call.repo.rules) {
    const at = ids.indexOf(rule.id);
    if (at >= 0) rule.priority = at + 1;
  }
  call.world.store.changed();
  return NO_CONTENT;
}

const ADMIN = { access: 'admin' } as const;

export const RULE_ROUTES: readonly Route[] = [
  route(
    'GET',
    `${REPO}/branch_protections`,
    (call) => ok(call.repo.rules.map((rule) => convertRule(call.world, rule))),
    ADMIN,
  ),
  route('POST', `${REPO}/branch_protections`, addRule, ADMIN),
  route('POST', `${REPO}/branch_protections/priority`, orderRules, ADMIN),
  route(
    'GET',
    `${REPO}/branch_protections/*name`,
    (call) => ok(convertRule(call.world, ruleOf(call))),
    ADMIN,
  ),
  route('PATCH', `${REPO}/branch_protections/*name`, editRule, ADMIN),
  route('DELETE', `${REPO}/branch_protections/*name`, deleteRule, ADMIN),
];
