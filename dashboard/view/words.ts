import {
  codeOfEvent,
  isPullCode,
  isSetAside,
  type PullCodeName,
} from '../../core/domain/pulls/find-pull-code.ts';
import type { Turn } from '../../core/domain/pulls/pull-code-kinds.ts';
import { PULL_CODES } from '../../core/domain/pulls/pull-code-table.ts';
import type { Tone } from './tone.ts';

/** A code of a pull request, as the API tells it. */
export interface Told {
  readonly kind: 'exit' | 'wait' | null;
  readonly turn: Turn | null;
}

export interface Word {
  readonly tone: Tone;
  readonly name: string;
  readonly meaning: string;
  /** Another mark than the one of its tone. */
  readonly shape?: 'split';
}

const UNKNOWN_WORD: Word = {
  tone: 'unknown',
  name: 'Unknown',
  meaning: 'This page does not know this outcome. Reload the page.',
};

const OUTCOMES: Readonly<Record<string, Word>> = {
  running: { tone: 'busy', name: 'Running', meaning: 'Its gate run or its merges are under way.' },
  success: { tone: 'clear', name: 'Landed', meaning: 'All its pull requests landed.' },
  bounced: {
    tone: 'stop',
    name: 'Bounced',
    meaning: 'Its pull request is the cause: removed from the queue, and still open.',
  },
  bisected: {
    tone: 'busy',
    shape: 'split',
    name: 'Split',
    meaning: 'Failed as a whole and was split into the parts below it.',
  },
  error: {
    tone: 'stop',
    name: 'Error',
    meaning: 'Its gate run was cancelled, broke off or never began. No pull request is blamed.',
  },
  held_success: {
    tone: 'clear',
    name: 'Passed, waiting',
    meaning: 'The gate passed. It lands once the pull requests before it have landed.',
  },
  held_failure: {
    tone: 'stop',
    name: 'Failed, waiting',
    meaning: 'The gate failed. What this means is decided once the pull requests before it are decided.',
  },
  superseded: {
    tone: 'quiet',
    name: 'Superseded',
    meaning: 'Not needed any more: the result of another gate run decided it.',
  },
  invalidated: {
    tone: 'quiet',
    name: 'Invalidated',
    meaning: 'The base branch moved or a pull request of the batch changed. All keep their places.',
  },
  operational_error: {
    tone: 'stop',
    name: 'Operational error',
    meaning: 'The forge or the CI failed again and again. No pull request is blamed.',
  },
};

/** An outcome outside the list is unknown, never something else (A85). */
export function wordOfOutcome(outcome: string): Word {
  return Object.hasOwn(OUTCOMES, outcome) ? (OUTCOMES[outcome] ?? UNKNOWN_WORD) : UNKNOWN_WORD;
}

export function sayPhase(phase: string | null): string | null {
  if (phase === 'waiting_gate') return 'waiting for the gate run';
  if (phase === 'waiting_merge') return 'waiting for its merges';
  return phase;
}

const LINE: Readonly<Record<string, Word>> = {
  landing: { tone: 'clear', name: 'Landing', meaning: 'Proven; the forge merges it now' },
  staged: { tone: 'busy', name: 'In the batch', meaning: 'Staged in the running batch' },
  ready: { tone: 'clear', name: 'Ready', meaning: 'Goes into the next batch' },
  waiting: { tone: 'busy', name: 'Waiting', meaning: 'Not staged yet' },
  refused: { tone: 'stop', name: 'Refused', meaning: 'A rule keeps it out of a batch' },
  bounced: { tone: 'stop', name: 'Bounced', meaning: 'Removed for cause; stays open' },
};

export function wordOfPlace(state: string): Word {
  return LINE[state] ?? { ...UNKNOWN_WORD, meaning: 'This page does not know this state' };
}

const CI: Readonly<Record<string, Word>> = {
  none: { tone: 'quiet', name: 'No gate run yet', meaning: 'Nothing was staged here' },
  pending: { tone: 'busy', name: 'Gate run awaited', meaning: 'Staged; its gate run has not begun' },
  running: { tone: 'busy', name: 'Running', meaning: 'The gate runs' },
  passing: { tone: 'clear', name: 'Passing', meaning: 'The newest gate run passed' },
  failing: { tone: 'stop', name: 'Failing', meaning: 'The newest gate run failed' },
  error: { tone: 'stop', name: 'Broken off', meaning: 'The newest gate run came to no verdict' },
};

export function wordOfCi(status: string): Word {
  return Object.hasOwn(CI, status) ? (CI[status] ?? UNKNOWN_WORD) : UNKNOWN_WORD;
}

/** The cause in the words of the commit status, then the next step; the key itself, made readable, when this page does not know it. */
export function sayReason(reason: string | null): string | null {
  if (reason === null) return null;
  return isPullCode(reason) ? sayCode(reason) : reason.replaceAll('_', ' ');
}

/** The cause of a bounce, which may have the name of what also sends a pull request back to the queue. */
export function sayBounce(reason: string | null): string | null {
  const code = reason !== null && isPullCode(reason) ? codeOfEvent('pr_bounced', reason) : reason;
  return sayReason(code);
}

function sayCode(code: PullCodeName): string {
  const { is, turn, says, next } = PULL_CODES[code];
  return `${sayWords(withoutStep(says, { kind: is, turn }))}. ${withoutNothing(next)}`;
}

/** "Nothing: …" answers the question for the next step; in a sentence after the cause it would be said of the cause. */
function withoutNothing(next: string): string {
  const rest = next.replace(/^Nothing: /, '');
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}

/** Where a person has to act, the status names the step behind the cause, for readers who see nothing else; here the step follows. */
export function withoutStep(says: string, { kind, turn }: Pick<Told, 'kind' | 'turn'>): string {
  const isForPerson = kind === 'exit' || turn === 'author' || turn === 'reviewer' || turn === 'operator';
  const [cause = says] = says.split('; ');
  return isForPerson ? cause : says;
}

/** The words of a commit status as a sentence, without the first word that says the state. */
export function sayWords(says: string): string {
  const words = says.slice(says.indexOf(': ') + 2);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

const EVENTS: Readonly<Record<string, Word>> = {
  pr_queued: { tone: 'quiet', name: 'joined the queue', meaning: '' },
  pr_refused: { tone: 'stop', name: 'was refused', meaning: '' },
  pr_staged: { tone: 'busy', name: 'was staged', meaning: '' },
  pr_landed: { tone: 'clear', name: 'landed', meaning: '' },
  pr_bounced: { tone: 'stop', name: 'was bounced', meaning: '' },
  pr_requeued: { tone: 'busy', name: 'went back to the queue', meaning: '' },
  pr_skipped: { tone: 'quiet', name: 'left the queue', meaning: '' },
};

const SET_ASIDE: Word = { tone: 'busy', name: 'was set aside', meaning: '' };

export function wordOfEvent(event: string, reason: string | null = null): Word {
  if (isSetAside(event, reason)) return SET_ASIDE;
  return EVENTS[event] ?? { tone: 'unknown', name: event.replaceAll('_', ' '), meaning: '' };
}

const ACTIONS: Readonly<Record<string, Word>> = {
  landed: { tone: 'clear', name: 'Landed', meaning: '' },
  bounced: { tone: 'stop', name: 'Bounced', meaning: '' },
  requeued: { tone: 'busy', name: 'Back to the queue', meaning: '' },
  skipped: { tone: 'quiet', name: 'Left the queue', meaning: '' },
  refused: { tone: 'stop', name: 'Refused', meaning: '' },
};

export function wordOfAction(action: string): Word {
  return ACTIONS[action] ?? UNKNOWN_WORD;
}

/** `isOpen`: a verdict may still come. */
export function sayVerdict(verdict: string, isOpen: boolean): string {
  if (verdict !== 'none') return verdict;
  return isOpen ? 'none yet' : 'none';
}

export type Origin = 'ran' | 'confirmed' | 'cached' | 'pending' | 'unknown';

/** Where a node's evidence comes from. Confirmed: the same tree failed in two gate runs of its own or its parent's (D-08). */
export function originOf(row: {
  readonly gate_source: string | null;
  readonly gate_verdict: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly gate_runs: number | null;
}): Origin {
  if (row.gate_source === 'cached') return 'cached';
  if (row.gate_source !== null) return 'unknown';
  if (row.gate_verdict === 'none') return 'pending';
  return row.outcome === 'bounced' && row.attempt > 1 ? 'confirmed' : 'ran';
}

const ORIGINS: Readonly<Record<Origin, string>> = {
  ran: 'Ran: a gate run of exactly this tree',
  confirmed: 'Confirmed: failed twice on the same tree',
  cached: 'Known already: an earlier gate run judged the same tree',
  pending: 'No verdict',
  unknown: 'Unknown',
};

export function sayOrigin(origin: Origin): string {
  return ORIGINS[origin];
}
