import type { CommitSha, EpochMs, PullRequestNumber } from '../ids.ts';
import { contextForBase } from '../queue/queue-names.ts';

export const WAKEUP_MODES = ['poll', 'webhook'] as const;
export type WakeupMode = (typeof WAKEUP_MODES)[number];

export const WEBHOOK_STATUSES = [
  'configured',
  'not_required',
  'needs_admin',
  'not_configured',
  'error',
] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

export const PROTECTION_STATUSES = [
  'configured',
  'awaiting_ci_gate',
  'needs_admin',
  'not_configured',
  'error',
  'not_requested',
] as const;
export type ProtectionStatus = (typeof PROTECTION_STATUSES)[number];

export const CI_GATE_STATUSES = [
  'missing',
  'setup_creating',
  'setup_pr_open',
  'awaiting_validation',
  'failed',
  'verified',
] as const;
export type CiGateStatus = (typeof CI_GATE_STATUSES)[number];

export const WEBHOOK_OBSERVATIONS = ['not_tried', 'registered', 'denied', 'failed'] as const;
/** The outcome of the last attempt on the hook. `denied`: the forge refused the bot. `failed`: no usable answer. */
export type WebhookObservation = (typeof WEBHOOK_OBSERVATIONS)[number];

export const PROTECTION_OBSERVATIONS = [
  'not_tried',
  'required',
  'unproven_gate',
  'denied',
  'refused',
  'failed',
] as const;
export const PROTECTION_REASONS = [
  'direct_push_allowed',
  'bypass_allowed',
  'unprotected_files',
  'block_on_outdated_branch',
  'foreign_pattern',
  'all_statuses_required',
  'staging_protected',
  'rule_unclear',
  'rule_not_effective',
  'rule_changed_meanwhile',
  'merge_style_not_allowed',
  'context_required_elsewhere',
  'rule_missing',
  'context_not_required',
  'base_missing',
] as const;
export type ProtectionReason = (typeof PROTECTION_REASONS)[number];

/** The outcome of the last attempt on the branch rule. `required`: our context is asked for, once, by `ruleName`. */
export interface ProtectionObservation {
  readonly kind: (typeof PROTECTION_OBSERVATIONS)[number];
  readonly ruleName: string | null;
  /** With `refused` the reason; with `required` what the owner should still know. */
  readonly reasons: readonly ProtectionReason[];
}

/** Observations only; what they mean is computed from them and the settings, so there is no history to go stale (D-69). */
export interface ProvisioningRecord {
  readonly webhook: WebhookObservation;
  readonly protection: ProtectionObservation;
  /** Contexts of ours that a change of context may have left in the rule; the next attempt removes them (A81). */
  readonly strayContexts: readonly string[];
  readonly lastProvisionedAt: EpochMs | null;
}

/** One commit made to see the gate run. */
export interface GateProbe {
  readonly sha: CommitSha;
  readonly branch: string;
  /** Blob of the workflow file that was probed: a later file needs a probe of its own. */
  readonly gateBlob: string;
  readonly madeAt: EpochMs;
}

export interface CiGate {
  readonly status: CiGateStatus;
  /** Setup pull request, or gate run that was observed; http or https only. */
  readonly url: string | null;
  readonly setupPr: PullRequestNumber | null;
  /** The newest probe, until its gate run has ended. */
  readonly probe: GateProbe | null;
}

/** The state of a new repo, and of an older row without these fields. */
export const UNPROVISIONED: {
  readonly provisioning: ProvisioningRecord;
  readonly protectionRequested: boolean;
  readonly ciGate: CiGate;
} = {
  provisioning: {
    webhook: 'not_tried',
    protection: { kind: 'not_tried', ruleName: null, reasons: [] },
    strayContexts: [],
    lastProvisionedAt: null,
  },
  protectionRequested: false,
  ciGate: { status: 'missing', url: null, setupPr: null, probe: null },
};

/** The `provisioning` object of the contract, in domain words. */
export interface ProvisioningView {
  readonly webhook: { readonly status: WebhookStatus };
  readonly protection: {
    readonly status: ProtectionStatus;
    /** Name of the rule; present when configured. */
    readonly id: string | null;
    readonly detail: string | null;
    /** Whether the rule of the branch, no matter who made it, asks for the status of the queue; null: not known. */
    readonly required: boolean | null;
  };
  readonly ciGate: { readonly status: CiGateStatus; readonly url: string | null };
  readonly lastProvisionedAt: EpochMs | null;
}

/** The settings of a repository that phrases name. */
export interface StatusPlace {
  readonly statusContext: string;
  readonly baseBranch: string;
}

const REASON_PHRASES: Readonly<Record<Exclude<ProtectionReason, 'context_required_elsewhere'>, string>> = {
  direct_push_allowed:
    'direct_push_allowed: the rule lets people push to the base branch past the queue; turn that off',
  bypass_allowed:
    'bypass_allowed: the rule names people who may merge without the status of the queue; switch that list off, or empty it',
  unprotected_files:
    'unprotected_files: the rule names unprotected files, and each account that may write pushes changes of these past the queue; empty that field',
  block_on_outdated_branch:
    'block_on_outdated_branch: the rule blocks outdated branches, so at most one pull request of a batch could ever land; turn that off, the queue tests on the newest base anyway',
  foreign_pattern:
    'foreign_pattern: the rule asks for a pattern that matches the context of the queue as well; name the contexts one by one',
  all_statuses_required:
    'all_statuses_required: the rule asks for every status and names none; name the contexts it should ask for, then try again',
  staging_protected:
    'staging_protected: a rule also covers the branches of the queue, which begin with its name; exclude them from it',
  rule_unclear: 'rule_unclear: two rules could govern the base branch; leave one',
  rule_not_effective:
    'rule_not_effective: the forge goes on obeying another rule; put the rule of the base branch first',
  rule_changed_meanwhile: 'rule_changed_meanwhile: the rule was edited at the same time; try again',
  rule_missing:
    'rule_missing: no rule protects the base branch, so people can merge unproven and the queue stages nothing; opt in to protection, or require the status of the queue yourself',
  context_not_required:
    'context_not_required: the rule of the base branch does not ask for the status of the queue by its name, so people can merge unproven and the queue stages nothing; opt in to protection, or add it yourself',
  base_missing:
    'base_missing: the base branch is not on the forge, so a rule for it would govern nothing; give the branch its name back, or enroll its new name',
  merge_style_not_allowed:
    'merge_style_not_allowed: the forge does not allow this merge style, so auto-merges in this style will not complete; allow merge commits, squashing or rebasing in the settings of the repository',
};

function phraseOf(reason: ProtectionReason, { statusContext, baseBranch }: StatusPlace): string {
  if (reason !== 'context_required_elsewhere') return REASON_PHRASES[reason];
  return `context_required_elsewhere: a rule of other branches asks for the same status, and a status belongs to a commit, not to a branch; a commit that heads pull requests to both is refused. A status context with the name of the branch in it, such as ${contextForBase(statusContext, baseBranch)}, keeps them apart`;
}

/** Fixed phrases for people, one after the other; null when there is nothing to say. */
export function describeReasons(reasons: readonly ProtectionReason[], place: StatusPlace): string | null {
  return reasons.length === 0 ? null : reasons.map((reason) => phraseOf(reason, place)).join('. ');
}

function webhookStatus(mode: WakeupMode, seen: WebhookObservation): WebhookStatus {
  if (mode === 'poll') return 'not_required';
  switch (seen) {
    case 'registered':
      return 'configured';
    case 'denied':
      return 'needs_admin';
    case 'failed':
      return 'error';
    case 'not_tried':
      return 'not_configured';
  }
}

function protectionStatus(
  requested: boolean,
  gate: CiGateStatus,
  seen: ProtectionObservation,
): ProtectionStatus {
  if (!requested) return 'not_requested';
  switch (seen.kind) {
    case 'required':
      return 'configured';
    case 'denied':
      return 'needs_admin';
    case 'refused':
      return seen.reasons.includes('staging_protected') ? 'needs_admin' : 'error';
    case 'failed':
      return 'error';
    case 'unproven_gate':
    case 'not_tried':
      // Requiring a context that cannot be posted yet would block every merge (D-67).
      return gate === 'verified' ? 'not_configured' : 'awaiting_ci_gate';
  }
}

const UNPROVEN_GATE_DETAIL =
  'awaiting_ci_gate: the rule is written once a verify call has seen the gate workflow succeed';

export interface ProvisioningFacts extends StatusPlace {
  readonly wakeupMode: WakeupMode;
  readonly protectionRequested: boolean;
  readonly provisioning: ProvisioningRecord;
  readonly ciGate: CiGate;
}

/** The rule as the engine last saw it, no matter who wrote the rule. */
export interface RuleSeen {
  /** First look that saw these reasons. */
  readonly at: EpochMs;
  /** Latest look, to the hour; absent: `at`. */
  readonly lookedAt?: EpochMs;
  /** Status context that the look asked for; absent in rows of an earlier release. */
  readonly context?: string;
  readonly reasons: readonly ProtectionReason[];
}

/** Undefined where the look was about another status context: the context was changed since, and nothing is known of the new one. */
export function ruleSeenFor(context: string, seen: RuleSeen | undefined): RuleSeen | undefined {
  return (seen?.context ?? context) === context ? seen : undefined;
}

/** States that the engine sees for itself; of these its newer look counts, of the others the last attempt. */
const SEEN_BY_ENGINE: readonly ProtectionReason[] = [
  'direct_push_allowed',
  'bypass_allowed',
  'unprotected_files',
  'block_on_outdated_branch',
  'all_statuses_required',
  'foreign_pattern',
  'rule_missing',
  'context_not_required',
];

/** Attempts that read no rule and wrote none: what was seen before them still holds. */
const WITHOUT_RULE: readonly ProtectionObservation['kind'][] = [
  'not_tried',
  'unproven_gate',
  'denied',
  'failed',
];

function reasonsOf(
  { protection, lastProvisionedAt }: ProvisioningRecord,
  seen: RuleSeen | undefined,
): readonly ProtectionReason[] {
  if (seen === undefined) return protection.reasons;
  const isNewer = lastProvisionedAt === null || seen.at >= lastProvisionedAt;
  if (!isNewer && !WITHOUT_RULE.includes(protection.kind)) return protection.reasons;
  const others = protection.reasons.filter((reason) => !SEEN_BY_ENGINE.includes(reason));
  return [...new Set([...others, ...seen.reasons])];
}

/** With one of these the forge would merge what is not proven. */
const NOT_REQUIRED: readonly ProtectionReason[] = [
  'rule_missing',
  'context_not_required',
  'all_statuses_required',
];

function isRequired({ provisioning }: ProvisioningFacts, seen: RuleSeen | undefined): boolean | null {
  if (seen === undefined && provisioning.protection.kind !== 'required') return null;
  const reasons = reasonsOf(provisioning, seen);
  if (isAskedByNone(reasons)) return false;
  // A refused attempt did not get as far as to see that the status is asked for, whatever was seen before it.
  const { protection } = provisioning;
  if (protection.kind !== 'refused' || reasons !== protection.reasons) return true;
  return isAskedByNone(seen?.reasons ?? []) ? false : null;
}

function isAskedByNone(reasons: readonly ProtectionReason[]): boolean {
  return reasons.some((reason) => NOT_REQUIRED.includes(reason));
}

/** The rule that waits for the gate settles these by itself: their step, to opt in, has been made. */
const SETTLED_BY_RULE: readonly ProtectionReason[] = ['rule_missing', 'context_not_required'];

/** Statuses as a pure function of settings and last observation (D-69). */
export function viewProvisioning(facts: ProvisioningFacts, lastSeen?: RuleSeen): ProvisioningView {
  const { provisioning, ciGate } = facts;
  const seen = ruleSeenFor(facts.statusContext, lastSeen);
  const { protection } = provisioning;
  const status = protectionStatus(facts.protectionRequested, ciGate.status, protection);
  const isToCome = status === 'awaiting_ci_gate';
  const reasons = reasonsOf(provisioning, seen).filter(
    (reason) => !(isToCome && SETTLED_BY_RULE.includes(reason)),
  );
  const said = describeReasons(reasons, facts);
  const waits = isToCome ? [UNPROVEN_GATE_DETAIL] : [];
  const detail = [...waits, ...(said === null ? [] : [said])].join('. ') || null;
  return {
    webhook: { status: webhookStatus(facts.wakeupMode, provisioning.webhook) },
    protection: {
      status,
      id: status === 'configured' ? protection.ruleName : null,
      detail,
      required: isRequired(facts, seen),
    },
    ciGate: { status: ciGate.status, url: ciGate.url },
    lastProvisionedAt: provisioning.lastProvisionedAt,
  };
}
