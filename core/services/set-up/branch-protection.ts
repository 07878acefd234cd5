import {
  type BranchRule,
  chooseGoverningRule,
  differingFields,
  fieldsOfClone,
  fieldsOfNewRule,
  planRequirement,
  type Requirement,
  type RequirementPlan,
} from '../../domain/forge/branch-rule.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { ProtectionObservation, ProtectionReason } from '../../domain/set-up/provisioning.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { ForgeAdmin } from '../../ports/forge-admin.ts';

/** Edit, look, promote, look: more writes than that are not needed; a rule that still differs by then is another writer's. */
const WRITES_MAX = 3;

export interface RequireContextOptions {
  readonly context: string;
  readonly strayContexts: readonly string[];
  readonly queueName: string;
  /** False: only looks (D-67). */
  readonly mayWrite: boolean;
}

/**
 * Makes the rule of the base ask for our context exactly once (A80). There is no version to write against, so after
 * every write the rules are read again: what counts is what the forge then obeys.
 */
export async function requireContext(
  forge: ForgeAdmin,
  repo: ManagedRepo,
  options: RequireContextOptions,
): Promise<ProtectionObservation> {
  try {
    return await settleRule(forge, repo, options);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (!options.mayWrite) return observed('unproven_gate');
    return observed(error.kind === 'denied' ? 'denied' : 'failed');
  }
}

async function settleRule(
  forge: ForgeAdmin,
  repo: ManagedRepo,
  options: RequireContextOptions,
): Promise<ProtectionObservation> {
  const base = repo.baseBranch;
  let before: BranchRule | null = null;
  for (let writes = 0; ; writes += 1) {
    const rules = await forge.listRules();
    const plan = planRequirement(rules, { ...options, base, ...(await readObeyed(forge, rules, base)) });
    if (plan.kind === 'refused') return options.mayWrite ? refused(plan.reasons) : observed('unproven_gate');
    if (plan.kind === 'kept') {
      const changed = before !== null && differingFields(before.raw, plan.rule.raw).length > 0;
      const style = await noteStyle(forge, repo);
      const reasons = [...plan.reasons, ...style, ...(changed ? CHANGED : [])];
      return { kind: 'required', ruleName: plan.rule.name, reasons };
    }
    if (!options.mayWrite) return observed('unproven_gate');
    if (writes === 0 && (await forge.readBranchTip(base)) === null) return refused(['base_missing']);
    if (writes === WRITES_MAX) {
      return refused([plan.kind === 'promote' ? 'rule_not_effective' : 'rule_changed_meanwhile']);
    }
    before ??= plan.kind === 'create' ? null : plan.rule;
    await write(forge, base, plan);
  }
}

/** Asked where the rules themselves leave it open. */
async function readObeyed(
  forge: ForgeAdmin,
  rules: readonly BranchRule[],
  base: string,
): Promise<Pick<Requirement, 'obeyed'>> {
  if (chooseGoverningRule(rules, base).kind !== 'unclear') return {};
  return { obeyed: (await forge.readProtection(base))?.ruleName ?? null };
}

const CHANGED: readonly ProtectionReason[] = ['rule_changed_meanwhile'];

async function write(
  forge: ForgeAdmin,
  base: string,
  plan: Exclude<RequirementPlan, { kind: 'kept' | 'refused' }>,
): Promise<void> {
  switch (plan.kind) {
    case 'edit':
      await forge.editRule(plan.rule.name, {
        enable_status_check: true,
        status_check_contexts: plan.contexts,
      });
      return;
    case 'clone':
      await forge.createRule(fieldsOfClone(plan.rule, base, plan.contexts));
      return;
    case 'promote':
      await forge.editRule(plan.rule.name, { priority: plan.over.priority ?? 0 });
      return;
    case 'create':
      await forge.createRule(fieldsOfNewRule(base, plan.contexts));
  }
}

/**
 * With auto-merge asked for, the forge has to allow it in that style (D-19). A forge that only
 * fast-forwards merges no pull request that is behind its base, so the owner is told as well.
 */
async function noteStyle(forge: ForgeAdmin, repo: ManagedRepo): Promise<readonly ProtectionReason[]> {
  const { allowedStyles } = await forge.readRepo();
  if (allowedStyles === null) return [];
  const mayLand = repo.automerge ? allowedStyles.includes(repo.mergeStyle) : allowedStyles.length > 0;
  return mayLand ? [] : ['merge_style_not_allowed'];
}

function observed(kind: ProtectionObservation['kind']): ProtectionObservation {
  return { kind, ruleName: null, reasons: [] };
}

function refused(reasons: readonly ProtectionReason[]): ProtectionObservation {
  return { kind: 'refused', ruleName: null, reasons };
}
