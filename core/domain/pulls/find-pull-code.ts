import type { ActivityEventName } from '../queue/batch.ts';
import type { PlaceState } from '../queue/queue-view.ts';
import { PULL_CODES } from './pull-code-table.ts';

export type PullCodeName = keyof typeof PULL_CODES;
export const PULL_CODE_NAMES = Object.keys(PULL_CODES) as readonly PullCodeName[];

export function isPullCode(name: string): name is PullCodeName {
  return Object.hasOwn(PULL_CODES, name);
}

/** Code of one event; null: a reason that this version does not know. */
export function codeOfEvent(event: ActivityEventName, reason: string | null): PullCodeName | null {
  if (event === 'pr_bounced') return codeOfBounce(reason);
  const name = reason ?? PLAIN_EVENTS[event];
  return isPullCode(name) ? name : null;
}

function codeOfBounce(reason: string | null): PullCodeName {
  if (reason === 'merge_timeout') return 'bounced_merge_timeout';
  return reason === 'verdict_known' || reason === 'retest_spent' ? reason : 'gate_failed';
}

/** A refusal whose status says that the pull request waits. */
export function isSetAside(event: string, reason: string | null): boolean {
  return (
    event === 'pr_refused' &&
    reason !== null &&
    isPullCode(reason) &&
    PULL_CODES[reason].says.startsWith('waiting:')
  );
}

const PLAIN_EVENTS: Readonly<Record<ActivityEventName, string>> = {
  pr_queued: 'queued',
  pr_staged: 'staged',
  pr_landed: 'landed',
  pr_bounced: 'gate_failed',
  pr_requeued: 'queued',
  pr_refused: 'not_admitted',
  pr_skipped: 'left_the_queue',
};

/** Code of one place in the queue; null: a reason that this version does not know. */
export function codeOfPlace(state: PlaceState, reason: string | null): PullCodeName | null {
  const name = reason ?? PLAIN_STATES[state];
  return isPullCode(name) ? name : null;
}

const PLAIN_STATES: Readonly<Record<PlaceState, PullCodeName>> = {
  landing: 'landing',
  staged: 'staged',
  ready: 'ready',
  waiting: 'not_admitted',
  refused: 'not_admitted',
  bounced: 'bounced',
};
