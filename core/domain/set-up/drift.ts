import { REFUSAL_CAUSES, type RefusalCause } from '../forge/refusal-cause.ts';
import type { EpochMs } from '../ids.ts';
import type { QueueView } from '../queue/queue-view.ts';
import type { ManagedRepo, ReconcileOutcome } from '../repos/repo.ts';
import { sayProblems } from '../repos/settings-file.ts';
import { type ProtectionReason, ruleSeenFor } from './provisioning.ts';

/** Parts of the set-up of a repository that are compared with what they were: words of the page and the API. */
export const DRIFTS = {
  base: {
    says: 'The branch that this queue serves is not on the forge any more',
    next: 'Give the branch its name back on the forge, or add its new name with "Add repositories" and press "Remove from the queue" in the settings of this one.',
  },
  unproven_base: {
    says: 'The base branch was moved past the queue, and no gate run has proven what is on it',
    next: 'Look on the forge who moved it, and undo that where it was a mistake. This ends with the next landing, whose gate run judges both, or when you switch the queue off and on.',
  },
  protection: {
    says: 'The branch rule of the base is gone, or lets pull requests land past the queue',
    next: 'Press "Put it back now" on the queue page, or restore the rule on the forge.',
  },
  required_context: {
    says: 'The branch rule does not ask for the status of the queue any more',
    next: 'Press "Put it back now" on the queue page, or add the status to the rule on the forge.',
  },
  own_branches: {
    says: 'A branch rule covers the branches of the queue, which begin with its name, so nothing can be staged',
    next: 'Change that rule on the forge, so that the bot may make, rewrite and delete branches there; "Verify the gate and these settings" on the setup page names these branches.',
  },
  webhook_missing: {
    says: 'The webhook was deleted, so the queue notices changes only when it looks, every five minutes at the latest',
    next: 'Press "Put it back now" on the queue page.',
  },
  webhook_changed: {
    says: 'The webhook was switched off or does not send all events any more',
    next: 'Press "Put it back now" on the queue page.',
  },
  rights: {
    says: 'The bot may not do any more what it could when the repository was set up',
    next: 'Give the bot its rights on the repository again, or store a new token on the page Connections.',
  },
  gate_file: {
    says: 'The gate that was verified is not on the base branch any more',
    next: 'Restore the workflow file, or open the setup pull request again on the setup page.',
  },
  settings_file: {
    says: 'The settings file on the base branch is wrong, so the settings from before it stay in force',
    next: 'Land a correction of the file; `mergeyard settings check` tests it without the service.',
  },
} as const;
export type DriftKind = keyof typeof DRIFTS;
export const DRIFT_KINDS = Object.keys(DRIFTS) as readonly DriftKind[];

/** A part of the set-up that is not as it was made. */
export interface Drift {
  readonly kind: DriftKind;
  /** First look that saw it; where `sinceEarliest` holds of its kind, the last look before it; null: not known. */
  readonly since: EpochMs | null;
  /** Of its kind, one that no call of the queue may put back: a person let others past the queue, or asks for all statuses. */
  readonly onlyPeople?: true;
  /** The words of this one, behind those of its kind. Absent: there are no others. */
  readonly detail?: string;
  /** Of `rights`: why the forge refuses, where its answer tells. */
  readonly refusal?: RefusalCause;
}

export interface DriftFacts {
  readonly repo: ManagedRepo;
  readonly outcome: ReconcileOutcome | undefined;
  readonly view: QueueView | undefined;
}

const OF_RULE: Readonly<Partial<Record<ProtectionReason, Pick<Drift, 'kind' | 'onlyPeople'>>>> = {
  rule_missing: { kind: 'protection' },
  direct_push_allowed: { kind: 'protection', onlyPeople: true },
  bypass_allowed: { kind: 'protection', onlyPeople: true },
  unprotected_files: { kind: 'protection', onlyPeople: true },
  context_not_required: { kind: 'required_context' },
  all_statuses_required: { kind: 'required_context', onlyPeople: true },
};

/** Words of a drift and the next step: of the refusal, where the forge tells it. */
export function sayDrift({ kind, refusal }: Pick<Drift, 'kind' | 'refusal'>): {
  readonly says: string;
  readonly next: string;
} {
  return refusal === undefined ? DRIFTS[kind] : REFUSAL_CAUSES[refusal];
}

/** In the order of `DRIFTS`. What was never set up, or was seen before it was set up, has not drifted. */
export function findDrifts(facts: DriftFacts): readonly Drift[] {
  const found = [
    ...findOfBase(facts),
    ...findOfTip(facts),
    ...findOfRule(facts),
    ...findOfOwnBranches(facts),
    ...findOfHook(facts),
    ...findOfRights(facts),
    ...findOfGate(facts),
    ...findOfFile(facts),
  ];
  return DRIFT_KINDS.flatMap((kind) => found.find((drift) => drift.kind === kind) ?? []);
}

/** A repository of which no look went well may name a branch that is still to be made. */
function findOfBase({ outcome }: DriftFacts): readonly Drift[] {
  if (outcome?.errorCode !== 'base_missing' || outcome.lastGoodAt === undefined) return [];
  return [{ kind: 'base', since: outcome.lastGoodAt }];
}

/** No call of the queue takes back what a person moved there. */
function findOfTip({ view }: DriftFacts): readonly Drift[] {
  const since = view?.unprovenSince;
  return since === undefined ? [] : [{ kind: 'unproven_base', since, onlyPeople: true }];
}

function findOfRule({ repo, outcome }: DriftFacts): readonly Drift[] {
  const { protection } = repo.provisioning;
  const rule = ruleSeenFor(repo.statusContext, outcome?.rule);
  if (!repo.protectionRequested || protection.kind !== 'required' || rule === undefined) return [];
  if (rule.at <= setUpAt(repo)) return [];
  // The rule went with its branch, and one that is put back would govern nothing.
  if (outcome?.errorCode === 'base_missing') return [];
  return rule.reasons
    .filter((reason) => !protection.reasons.includes(reason))
    .flatMap((reason) => {
      const drift = OF_RULE[reason];
      return drift === undefined ? [] : [{ ...drift, since: rule.at }];
    });
}

/** Told also where the service does not manage the rule of the base: the queue can stage nothing there either. */
function findOfOwnBranches({ repo, outcome }: DriftFacts): readonly Drift[] {
  const rule = outcome?.rule;
  if (rule === undefined || rule.at <= setUpAt(repo)) return [];
  return rule.reasons.includes('staging_protected') ? [{ kind: 'own_branches', since: rule.at }] : [];
}

function findOfHook({ repo, outcome }: DriftFacts): readonly Drift[] {
  const hook = outcome?.hook;
  if (repo.wakeupMode !== 'webhook' || repo.provisioning.webhook !== 'registered') return [];
  if (hook === undefined || hook.at <= setUpAt(repo)) return [];
  if (hook.state === 'missing') return [{ kind: 'webhook_missing', since: hook.since }];
  return hook.state === 'changed' ? [{ kind: 'webhook_changed', since: hook.since }] : [];
}

/** A repository of which no look went well was not set up yet. */
function findOfRights({ outcome }: DriftFacts): readonly Drift[] {
  if (outcome?.errorCode !== 'forge_access_denied' || outcome.lastGoodAt === undefined) return [];
  const { lastGoodAt: since, refusal } = outcome;
  return [{ kind: 'rights', since, ...(refusal === undefined ? {} : { refusal }) }];
}

/** A gate by statuses has no file on the base. */
function findOfGate({ repo, view }: DriftFacts): readonly Drift[] {
  if (repo.gate === 'statuses' || repo.ciGate.status !== 'verified' || view?.block.kind !== 'gate_missing')
    return [];
  return [{ kind: 'gate_file', since: view.block.since }];
}

function findOfFile({ repo, outcome }: DriftFacts): readonly Drift[] {
  const { problems = [], since } = outcome?.settingsSeen ?? { since: null };
  if (!repo.settingsFile || problems.length === 0) return [];
  return [{ kind: 'settings_file', since, detail: sayProblems(problems) }];
}

function setUpAt({ provisioning }: ManagedRepo): EpochMs {
  return provisioning.lastProvisionedAt ?? 0;
}
