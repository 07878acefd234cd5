import { hasForeignPattern } from '../forge/branch-rule.ts';
import type { BranchProtection } from '../forge/forge.ts';
import type { ManagedRepo } from '../repos/repo.ts';
import { lastDeliveryOf } from '../wakes/heard-events.ts';
import { UNDELIVERED_STEP } from './hook-seen.ts';

/** Parts of a set-up that a bot which is no administrator cannot make, in the order of docs/forges.md. */
export const SET_UP_CHECKS = [
  'required_check',
  'no_foreign_pattern',
  'own_branches_free',
  'no_way_past',
  'wake',
] as const;
export type SetUpCheckName = (typeof SET_UP_CHECKS)[number];

/** `unknown`: the bot may not read it, or the forge gave no answer. Never a guess. */
export const SET_UP_STATES = ['ok', 'missing', 'unknown'] as const;
export type SetUpState = (typeof SET_UP_STATES)[number];

export interface SetUpCheck {
  readonly check: SetUpCheckName;
  readonly state: SetUpState;
  /** The state that should stand. */
  readonly says: string;
  /** The next step on the forge, or the place to look at; null where it is ok. */
  readonly fix: string | null;
}

export interface SetUpFacts {
  readonly repo: Pick<ManagedRepo, 'baseBranch' | 'statusContext' | 'wakeupMode' | 'provisioning' | 'heard'>;
  readonly queueName: string;
  /** The rule that governs the base, null when none does; `unknown`: it was not read. */
  readonly rule: BranchProtection | null | 'unknown';
  /** Is there a rule over the branches of the queue? */
  readonly ownBranches: 'free' | 'ruled' | 'unknown';
}

export function checkSetUp(facts: SetUpFacts): readonly SetUpCheck[] {
  return SET_UP_CHECKS.map((check) => {
    const state = STATES[check](facts);
    const { says, fix } = words(facts)[check];
    return { check, state, says, fix: state === 'ok' ? null : fix[state] };
  });
}

const STATES: Readonly<Record<SetUpCheckName, (facts: SetUpFacts) => SetUpState>> = {
  required_check: ({ rule, repo }) => {
    if (rule === 'unknown') return rule;
    return say(rule?.statusCheckEnabled === true && rule.requiredContexts.includes(repo.statusContext));
  },
  no_foreign_pattern: ({ rule, repo }) => {
    if (rule === 'unknown') return rule;
    // Without a rule nothing is asked for that the queue does not write.
    if (rule === null || !rule.statusCheckEnabled) return 'ok';
    const { requiredContexts } = rule;
    return say(requiredContexts.length > 0 && !hasForeignPattern(requiredContexts, repo.statusContext));
  },
  own_branches_free: ({ ownBranches }) =>
    ownBranches === 'unknown' ? ownBranches : say(ownBranches === 'free'),
  no_way_past: ({ rule }) => {
    if (rule === 'unknown') return rule;
    if (rule === null) return 'missing';
    // The summary that other bots are shown does not say it.
    if (rule.scope === 'summary') return 'unknown';
    const isWay = rule.directPushAllowed || rule.bypassAllowed === true || rule.filesPushable === true;
    return say(!isWay && !rule.blockOnOutdatedBranch);
  },
  wake: ({ repo }) => {
    if (repo.wakeupMode === 'poll') return 'ok';
    const { webhook } = repo.provisioning;
    if (webhook === 'registered') return lastDeliveryOf(repo.heard) === null ? 'unknown' : 'ok';
    return webhook === 'denied' ? 'missing' : 'unknown';
  },
};

function say(isSo: boolean): SetUpState {
  return isSo ? 'ok' : 'missing';
}

interface Words {
  readonly says: string;
  readonly fix: Readonly<Record<Exclude<SetUpState, 'ok'>, string>>;
}

function words({ repo, queueName }: SetUpFacts): Readonly<Record<SetUpCheckName, Words>> {
  const { baseBranch: base, statusContext: context } = repo;
  const own = `"${queueName}/" and "${queueName}-work/"`;
  const rule = `the rule of "${base}"`;
  return {
    required_check: {
      says: `A branch rule of "${base}" asks for the status check "${context}" by its exact name.`,
      fix: {
        missing: `Make a rule for "${base}" on the forge, switch its status check on, and add "${context}" to the required checks.`,
        unknown: `The forge did not show ${rule}. Look there that its status check is on and that "${context}" is among the required checks, then verify again.`,
      },
    },
    no_foreign_pattern: {
      says: `No other required check is a pattern that matches "${context}", and the list is not empty.`,
      fix: {
        missing: `In ${rule} name the required checks one by one, without a pattern such as "*": it asks for statuses that the queue does not write.`,
        unknown: `The forge did not show ${rule}. Look there that each required check is named without a pattern, then verify again.`,
      },
    },
    own_branches_free: {
      says: `No branch rule covers the branches of the queue, which begin with ${own}.`,
      fix: {
        missing: `Change the rule that covers ${own}, so that the bot may make, rewrite and delete branches there.`,
        unknown: `The bot may not list the rules. Look on the forge that no rule has a pattern that covers ${own}.`,
      },
    },
    no_way_past: {
      says: `The rule of "${base}" allows no direct pushes, names no unprotected files and no people who may bypass it, and does not block outdated branches.`,
      fix: {
        missing: `In ${rule} switch off direct pushes, the list of people who may bypass it (Gitea 1.27), and "block on outdated branch", and empty the field of unprotected files: else commits land past the queue, or at most one pull request of a batch lands.`,
        unknown: `The bot may not read this. Look at ${rule} on the forge: direct pushes, the list of people who may bypass it (Gitea 1.27), and "block on outdated branch" have to be off, and the field of unprotected files empty.`,
      },
    },
    wake: {
      says: 'The queue is woken by a webhook whose deliveries arrive, or by the timer.',
      fix: {
        missing:
          'The forge refused to let the bot make a webhook. Make the bot an administrator, and register the webhook again on the setup page; or choose "by timer" under "Wakes up" in the settings.',
        unknown:
          repo.provisioning.webhook === 'registered'
            ? `The webhook is registered, and no delivery of it was seen yet. Verify again in a minute; if none has arrived by then, ${UNDELIVERED_STEP}`
            : 'The webhook was not registered yet, or the forge gave no answer. Register it on the setup page, or choose "by timer" under "Wakes up" in the settings.',
      },
    },
  };
}
