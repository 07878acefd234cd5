import { UNDELIVERED_STEP } from '#core/domain/set-up/hook-seen.ts';
import type { StatusEntry } from './blocker.ts';
import { showFullTime } from './format.ts';
import type { Tone } from './tone.ts';

type Provisioning = StatusEntry['provisioning'];

/** How often a repository is looked at without any event. */
export const TIMER = 'every five minutes, and about every 30 seconds while something happens';

export type StepAction = 'setup_pr' | 'verify' | 'protect' | 'provision' | 'template' | null;

export interface Step {
  readonly id: 'gate' | 'protection' | 'webhook';
  readonly title: string;
  readonly tone: Tone;
  /** One word for the state. */
  readonly state: string;
  /** The exact fix, or why there is nothing to do. */
  readonly advice: string;
  readonly action: StepAction;
  readonly actionLabel: string | null;
  readonly url: string | null;
}

/** The three things that must stand before a repository lands by itself, each with a tick or the exact fix. */
export function listSteps(
  repo: Pick<
    StatusEntry,
    'provisioning' | 'wakeup_mode' | 'status_context' | 'connection' | 'last_delivery_at'
  > &
    Partial<Pick<StatusEntry, 'gate'>>,
): readonly Step[] {
  const { provisioning } = repo;
  return [
    repo.gate === 'statuses' ? stepOfStatuses(provisioning.ci_gate) : stepOfGate(provisioning.ci_gate),
    stepOfProtection(provisioning, repo.status_context),
    stepOfWebhook(
      provisioning.webhook.status,
      repo.connection?.bot_username ?? 'the bot',
      repo.last_delivery_at,
    ),
  ];
}

/** Whether events tell of the gate's verdicts, as far as they were seen; null where the owner wants no webhook. */
export function tellGateEvents(
  repo: Pick<StatusEntry, 'wakeup_mode' | 'gate' | 'gate_events'>,
): string | null {
  if (repo.wakeup_mode !== 'webhook') return null;
  const [kind, seenAt] =
    repo.gate === 'statuses'
      ? (['a status of the gate changes', repo.gate_events.status] as const)
      : (['a gate run ends', repo.gate_events.run] as const);
  return seenAt === null
    ? `Whether the forge tells the queue when ${kind} is unknown: no such event was seen, so the queue asks often`
    : `The forge tells the queue when ${kind}: seen ${showFullTime(seenAt)} (noted once an hour at most)`;
}

export function isSetUp(repo: Parameters<typeof listSteps>[0]): boolean {
  return listSteps(repo).every((step) => step.tone === 'clear' || step.tone === 'quiet');
}

export const SETUP_FINISHED =
  'Setup is finished. Press "Auto merge when all checks succeed" on a pull request, and it joins the queue.';

/** The state of the gate in the words of its step. */
export function nameGate(gate: Provisioning['ci_gate']): string {
  return stepOfGate(gate).state;
}

type Draft = Omit<Step, 'id' | 'title' | 'url'>;

function stepOfGate(gate: Provisioning['ci_gate']): Step {
  const drafts: Readonly<Record<string, Draft>> = {
    missing: {
      tone: 'stop',
      state: 'Missing',
      action: 'setup_pr',
      actionLabel: 'Open the setup pull request',
      advice:
        'The base branch has no gate workflow. Open the setup pull request, put your test command into it, and merge it.',
    },
    setup_creating: {
      tone: 'busy',
      state: 'Being made',
      action: 'setup_pr',
      actionLabel: 'Look for it again',
      advice:
        'The setup pull request is being made. If this stays, ask for it again: an open one is never made twice.',
    },
    setup_pr_open: {
      tone: 'busy',
      state: 'Setup is open',
      action: 'verify',
      actionLabel: 'I merged it: verify the gate',
      advice:
        'The setup pull request waits for you. Replace its failing command with your own tests, merge it, then verify.',
    },
    awaiting_validation: {
      tone: 'busy',
      state: 'Being verified',
      action: 'verify',
      actionLabel: 'Look again',
      advice: 'A probe commit was pushed and its gate run is under way. Look again in a moment.',
    },
    failed: {
      tone: 'stop',
      state: 'Failed',
      action: 'verify',
      actionLabel: 'Verify again',
      advice:
        'The probe of the gate failed. Open the gate run, repair the command or the runner on the base branch, then verify again.',
    },
    verified: {
      tone: 'clear',
      state: 'Verified',
      action: null,
      actionLabel: null,
      advice: 'A probe of the gate was seen to pass.',
    },
  };
  return { id: 'gate', title: 'Gate workflow', url: gate.url, ...pick(drafts, gate.status) };
}

function stepOfStatuses(gate: Provisioning['ci_gate']): Step {
  if (gate.status === 'verified' || gate.status === 'failed')
    return { ...stepOfGate(gate), title: 'Gate by statuses' };
  return {
    id: 'gate',
    title: 'Gate by statuses',
    url: gate.url,
    tone: 'busy',
    state: 'Not verified',
    action: 'verify',
    actionLabel: 'Verify the gate',
    advice:
      'A probe commit is pushed for the CI to answer. Choose contexts and accounts below, then verify until all have passed.',
  };
}

/** The reasons without their codes, which are for programs; that the gate is awaited is the step's own advice. */
function sayDetail(detail: string | null): string {
  const reasons = (detail ?? '').split('. ').filter((reason) => !reason.startsWith('awaiting_ci_gate:'));
  return reasons
    .map((reason) => reason.replace(/^[a-z_]+: /, ''))
    .map((reason) => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`)
    .join('. ');
}

function stepOfProtection({ protection }: Provisioning, context: string): Step {
  const detail = sayDetail(protection.detail);
  const drafts: Readonly<Record<string, Draft>> = {
    configured: {
      tone: 'clear',
      state: 'Required',
      action: null,
      actionLabel: null,
      advice: `The branch rule ${protection.id === undefined ? '' : `"${protection.id}" `}asks for the status "${context}", so nothing merges unproven.`,
    },
    awaiting_ci_gate: {
      tone: 'busy',
      state: 'After the gate',
      action: null,
      actionLabel: null,
      advice:
        'You let Mergeyard require its check. The rule is written as soon as the gate is verified; before that it would block every merge.',
    },
    needs_admin: {
      tone: 'stop',
      state: 'Needs an administrator',
      action: 'provision',
      actionLabel: 'Try again',
      advice:
        detail === ''
          ? `The bot may not edit branch rules. Make it an administrator of the repository, with a token that is not for public repositories alone, or add "${context}" as a required check yourself, then try again.`
          : detail,
    },
    not_configured: {
      tone: 'busy',
      state: 'Not written',
      action: 'provision',
      actionLabel: 'Write the rule now',
      advice:
        'The gate is verified and you let Mergeyard require its check, but the rule has not been written yet.',
    },
    error: {
      tone: 'stop',
      state: 'Error',
      action: 'provision',
      actionLabel: 'Try again',
      advice:
        detail === '' ? 'The forge did not answer as expected. Try again; nothing was changed.' : detail,
    },
    not_requested: {
      tone: 'busy',
      state: 'Your choice',
      action: 'protect',
      actionLabel: 'Let Mergeyard require its check',
      advice: `Without a rule that asks for "${context}" people can merge past the queue, and the queue will not stage. Press "Let Mergeyard require its check", or add the required check yourself.`,
    },
  };
  const isOfOthers = protection.status === 'not_requested' && protection.required === true;
  const draft = isOfOthers ? ofOthers(context) : pick(drafts, protection.status);
  const isSaid = detail === '' || draft.advice === detail;
  // Settings of the rule that hinder the queue are told, no matter who made the rule.
  const advice = isSaid ? draft.advice : `${draft.advice} ${detail}.`;
  return { id: 'protection', title: 'Branch protection', url: null, ...draft, advice };
}

/** The service leaves this rule as it is. After the end of the opt-in it may be one that the service wrote. */
const ofOthers = (context: string): Draft => ({
  tone: 'clear',
  state: 'Required',
  action: 'protect',
  actionLabel: 'Let Mergeyard keep this rule',
  advice: `A rule of the branch, which Mergeyard leaves as it is, asks for the status "${context}", so nothing merges unproven.`,
});

function stepOfWebhook(status: string, bot: string, lastDeliveryAt: string | null): Step {
  const drafts: Readonly<Record<string, Draft>> = {
    configured: {
      action: null,
      actionLabel: null,
      ...tellDeliveries(lastDeliveryAt),
    },
    not_required: {
      tone: 'quiet',
      state: 'Not needed',
      action: null,
      actionLabel: null,
      advice: `The repository is looked at ${TIMER}. To be faster, choose "by webhook" under "Wakes up" in its settings.`,
    },
    needs_admin: {
      tone: 'stop',
      state: 'Needs an administrator',
      action: 'provision',
      actionLabel: 'Try again',
      advice: `The forge refused to let ${bot} add a webhook. Make it an administrator of the repository, with a token that is not for public repositories alone, then try again. Until then the queue looks ${TIMER}.`,
    },
    not_configured: {
      tone: 'busy',
      state: 'Not registered',
      action: 'provision',
      actionLabel: 'Register it now',
      advice: 'The webhook has not been registered yet.',
    },
    error: {
      tone: 'stop',
      state: 'Error',
      action: 'provision',
      actionLabel: 'Try again',
      advice: `The forge did not answer while the webhook was registered. Try again; until then the queue looks ${TIMER}.`,
    },
  };
  return { id: 'webhook', title: 'Webhook', url: null, ...pick(drafts, status) };
}

function tellDeliveries(lastAt: string | null): Pick<Draft, 'tone' | 'state' | 'advice'> {
  if (lastAt === null)
    return {
      tone: 'quiet',
      state: 'Registered, none arrived yet',
      advice: `No delivery of the webhook was seen yet; until then the repository is looked at ${TIMER}. Verify the gate or push a commit. If this stays, ${UNDELIVERED_STEP}`,
    };
  return {
    tone: 'clear',
    state: 'Delivers',
    advice: `The forge tells the queue about changes at once: a delivery was seen ${showFullTime(lastAt)} (noted once an hour at most). The five-minute timer stays as a safety net.`,
  };
}

function pick(drafts: Readonly<Record<string, Draft>>, status: string): Draft {
  return (
    (Object.hasOwn(drafts, status) ? drafts[status] : undefined) ?? {
      tone: 'unknown',
      state: 'Unknown',
      action: null,
      actionLabel: null,
      advice: `This page does not know the status "${status.replaceAll('_', ' ')}".`,
    }
  );
}
