import { Effort, EffortSpent } from '../effort.ts';
import {
  GLOB_STEPS_MAX,
  type GlobDialect,
  GlobReader,
  GlobSet,
  isGlob,
  isReadDifferently,
} from '../globs/glob.ts';
import { Subject } from '../globs/glob-matcher.ts';
import type { EpochMs } from '../ids.ts';
import { stagingBranch, workBranch } from '../queue/queue-names.ts';
import type { ProtectionReason } from '../set-up/provisioning.ts';

/** The facts that decide which rule a forge obeys. */
export interface RuleOrder {
  readonly name: string;
  /** Gitea 1.23 and newer, lower first; null elsewhere. */
  readonly priority: number | null;
  readonly createdAt: EpochMs;
}

/** A branch rule with the few fields we judge, and all of it as the forge sent it. */
export interface BranchRule extends RuleOrder {
  readonly statusCheckEnabled: boolean;
  readonly contexts: readonly string[];
  readonly blockOnOutdatedBranch: boolean;
  readonly directPushAllowed: boolean;
  readonly bypassAllowed: boolean;
  readonly filesPushable: boolean;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** `unclear`: only the forge can say which, for a pattern that comes first is not read alike by all versions. */
export type RuleChoice<Rule> =
  | { readonly kind: 'found'; readonly rule: Rule }
  | { readonly kind: 'none' | 'unclear' };

/**
 * The one rule that the forge obeys; rules do not add up. Order: `priority` where there is one (Gitea 1.23), plain
 * names before patterns, oldest first.
 */
export function chooseGoverningRule<Rule extends RuleOrder>(
  rules: readonly Rule[],
  branch: string,
): RuleChoice<Rule> {
  const governs = governing(branch, 'gitea', new Effort(GLOB_STEPS_MAX));
  return unlessSpent<RuleChoice<Rule>>({ kind: 'unclear' }, () => {
    for (const rule of inOrder(rules)) {
      // Never guessed, not even where all readings agree: a wrong one lets everything that is scheduled merge unproven.
      if (isReadDifferently(rule.name)) return { kind: 'unclear' };
      if (governs(rule.name)) return { kind: 'found', rule };
    }
    return { kind: 'none' };
  });
}

/** Would a rule cover this branch, whichever forge reads it? A branch that is not there yet cannot be asked about. */
export function isCovered(rules: readonly RuleOrder[], branch: string): boolean {
  const effort = new Effort(GLOB_STEPS_MAX);
  const [isOnGitea, isOnGobwas] = [governing(branch, 'gitea', effort), governing(branch, 'gobwas', effort)];
  return unlessSpent(true, () => rules.some(({ name }) => isOnGitea(name) || isOnGobwas(name)));
}

/** `otherwise` where the names are too many or too long to be read. */
function unlessSpent<Answer>(otherwise: Answer, answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    if (error instanceof EffortSpent) return otherwise;
    throw error;
  }
}

function inOrder<Rule extends RuleOrder>(rules: readonly Rule[]): readonly Rule[] {
  return [...rules].sort(
    (a, b) =>
      (a.priority ?? 0) - (b.priority ?? 0) ||
      Number(isGlob(a.name)) - Number(isGlob(b.name)) ||
      a.createdAt - b.createdAt,
  );
}

/** Says of the name of a rule whether that rule governs `branch`. Throws `EffortSpent`. */
function governing(branch: string, dialect: GlobDialect, effort: Effort): (ruleName: string) => boolean {
  const reader = new GlobReader(dialect, '/', effort);
  const subject = new Subject(branch);
  // A pattern that does not compile is compared as a plain name, but with its case.
  return (ruleName) =>
    isGlob(ruleName) ? (reader.matches(ruleName, subject) ?? ruleName === branch) : isNamed(ruleName, branch);
}

function isNamed(ruleName: string, branch: string): boolean {
  return ruleName.toLowerCase() === branch.toLowerCase();
}

export type RequirementPlan =
  /** The rule asks for our context already, exactly once. */
  | { readonly kind: 'kept'; readonly rule: BranchRule; readonly reasons: readonly ProtectionReason[] }
  | { readonly kind: 'edit'; readonly rule: BranchRule; readonly contexts: readonly string[] }
  /** A pattern governs the base: a rule of its own, equal in every other field, leaves other branches alone. */
  | { readonly kind: 'clone'; readonly rule: BranchRule; readonly contexts: readonly string[] }
  /** Our clone exists, but the pattern still goes first. */
  | { readonly kind: 'promote'; readonly rule: BranchRule; readonly over: BranchRule }
  | { readonly kind: 'create'; readonly contexts: readonly string[] }
  | { readonly kind: 'refused'; readonly reasons: readonly ProtectionReason[] };

export interface Requirement {
  readonly queueName: string;
  readonly base: string;
  readonly context: string;
  /** Earlier contexts of ours: they leave the rule (A81). */
  readonly strayContexts: readonly string[];
  /** Name of the rule that the forge says it obeys, null: none; absent where that need not be asked. */
  readonly obeyed?: string | null;
}

/** How to make the rule of `base` ask for exactly one context of ours and leave all else as it is (A80). */
export function planRequirement(rules: readonly BranchRule[], wanted: Requirement): RequirementPlan {
  const { base } = wanted;
  const { queueName } = wanted;
  const ours = [stagingBranch(queueName, base), workBranch(queueName, base, 'batch')];
  const blocked = ours.some((branch) => isCovered(rules, branch));
  // Protected branches can be neither rewritten nor deleted by any account (forge facts, 4).
  if (blocked) return { kind: 'refused', reasons: ['staging_protected'] };
  const choice = chooseGoverningRule(rules, base);
  const { obeyed = null } = wanted;
  const rule = choice.kind === 'found' ? choice.rule : (rules.find(({ name }) => name === obeyed) ?? null);
  // Another writer was there between the two answers.
  if (rule === null && obeyed !== null) return { kind: 'refused', reasons: ['rule_changed_meanwhile'] };
  if (rule === null) return { kind: 'create', contexts: [wanted.context] };
  if (hasForeignOf(rule, wanted)) return { kind: 'refused', reasons: ['foreign_pattern'] };
  const contexts = withOurContext(rule.contexts, wanted);
  if (rule.statusCheckEnabled && sameList(rule.contexts, contexts)) {
    return { kind: 'kept', rule, reasons: noteReasons(rule, rules, wanted.context) };
  }
  if (rule.statusCheckEnabled && rule.contexts.length === 0) {
    // An empty list asks for every status; with ours in it, it would ask for ours alone.
    return { kind: 'refused', reasons: ['all_statuses_required'] };
  }
  if (rule.blockOnOutdatedBranch) return { kind: 'refused', reasons: ['block_on_outdated_branch'] };
  if (!isGlob(rule.name)) return { kind: 'edit', rule, contexts };
  const own = rules.find((other) => !isGlob(other.name) && isNamed(other.name, base));
  if (own === undefined) return { kind: 'clone', rule, contexts };
  const isOurClone = own.contexts.includes(wanted.context) && differingFields(rule.raw, own.raw).length === 0;
  return isOurClone
    ? { kind: 'promote', rule: own, over: rule }
    : { kind: 'refused', reasons: ['rule_unclear'] };
}

/** Warnings for the owner about a rule that works. */
function noteReasons(
  rule: BranchRule,
  rules: readonly BranchRule[],
  context: string,
): readonly ProtectionReason[] {
  const reasons: ProtectionReason[] = [];
  if (rule.blockOnOutdatedBranch) reasons.push('block_on_outdated_branch');
  if (rule.directPushAllowed) reasons.push('direct_push_allowed');
  if (rule.bypassAllowed) reasons.push('bypass_allowed');
  if (rule.filesPushable) reasons.push('unprotected_files');
  const others = isGlob(rule.name) ? rules : rules.filter((other) => other !== rule);
  const effort = new Effort(GLOB_STEPS_MAX);
  if (others.some((other) => isOpenedByContext(other, context, effort)))
    reasons.push('context_required_elsewhere');
  return reasons;
}

/** An empty list asks for every status, and so for ours. */
function isOpenedByContext(rule: BranchRule, context: string, effort: Effort): boolean {
  const { statusCheckEnabled, contexts } = rule;
  if (!statusCheckEnabled) return false;
  return (
    contexts.length === 0 ||
    contexts.includes(context) ||
    new GlobSet(contexts, null, effort).mayMatch(context)
  );
}

/** With `ci/*` beside `ci/queue` a foreign status could stand for ours, or ours for a foreign one (E14). */
function hasForeignOf(rule: BranchRule, { context, strayContexts }: Requirement): boolean {
  const strays = new Set(strayContexts);
  return hasForeignPattern(
    rule.contexts.filter((pattern) => !strays.has(pattern)),
    context,
  );
}

/** Another required check than ours that matches our context as well: no status of ours alone satisfies it. */
export function hasForeignPattern(contexts: readonly string[], context: string): boolean {
  return new GlobSet(
    contexts.filter((pattern) => pattern !== context && isGlob(pattern)),
    null,
  ).mayMatch(context);
}

/** Ours once, in the place of the first that was ours; the others in their order. */
function withOurContext(contexts: readonly string[], wanted: Requirement): readonly string[] {
  const isOurs = (context: string): boolean =>
    context === wanted.context || wanted.strayContexts.includes(context);
  const at = contexts.findIndex(isOurs);
  const others = contexts.filter((context) => !isOurs(context));
  if (at === -1) return [...others, wanted.context];
  return [...others.slice(0, at), wanted.context, ...others.slice(at)];
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index]);
}

/** Fields that a rule and its copy may differ in. */
const OWN_FIELDS: readonly string[] = [
  'id',
  'rule_name',
  'branch_name',
  'priority',
  'created_at',
  'updated_at',
  'enable_status_check',
  'status_check_contexts',
];

/** Names of the fields that differ between two readings of a rule, or a rule and its clone; our own edit left out. */
export function differingFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(
    (name) => !OWN_FIELDS.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
}

/** Every field of a rule that a new one may be created with, our context in it. */
export function fieldsOfClone(
  rule: BranchRule,
  name: string,
  contexts: readonly string[],
): Readonly<Record<string, unknown>> {
  const copied = Object.entries(rule.raw).filter(([field]) => !OWN_FIELDS.includes(field));
  return {
    ...Object.fromEntries(copied),
    rule_name: name,
    ...(rule.priority === null ? {} : { priority: rule.priority }),
    enable_status_check: true,
    status_check_contexts: contexts,
  };
}

/** A rule where there was none: no account pushes past the gate, not even an administrator (forge facts, 4). */
export function fieldsOfNewRule(
  name: string,
  contexts: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    rule_name: name,
    enable_push: false,
    enable_status_check: true,
    status_check_contexts: contexts,
    // The same thing in the words of Forgejo and of Gitea; each ignores the other's.
    apply_to_admins: true,
    block_admin_merge_override: true,
  };
}
