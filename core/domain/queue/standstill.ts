import { DAY_MS } from '../api-limits.ts';
import { sayRunner } from '../forge/runner-labels.ts';
import type { EpochMs } from '../ids.ts';
import { pauseAt } from '../repos/pause.ts';
import type { ManagedRepo, ReconcileErrorCode, ReconcileOutcome } from '../repos/repo.ts';
import type { NodeRow } from './batch.ts';
import { goesOnSince } from './goes-on.ts';
import type { BlockKind, QueueView } from './queue-view.ts';

/** Past this multiple of what is usual a wait is told. */
const TOLD_AT = 1.5;
const SHORTEST_MS = 10 * 60_000;
/** So many gate runs teach how long one usually takes. */
const GATE_RUNS_MIN = 5;
/** A gate of which nothing is known yet. */
const UNTAUGHT_GATE_MS = 60 * 60_000;
/** Three ticks: a queue with something in it is looked at by each. */
const LOOKED_WITHIN_MS = 15 * 60_000;
/** An outage in which nothing waits, as far as is known, is told later. */
const BLIND_WHILE_EMPTY_MS = 60 * 60_000;

/** The causes of a queue that stands still: words of the page and the API. */
export const STANDSTILLS = {
  not_looked: {
    says: 'The service has not looked at this queue, although pull requests wait in it',
    next: 'Press "Look at the forge now" on the queue page; if that fails, tell the operator of the service.',
  },
  looks_fail: {
    says: 'Each look at the forge fails',
    next: 'Read the error of the last look on the queue page, and repair what the error names.',
  },
  stopped: {
    says: 'The queue reads the forge without an error, and what it reads there keeps everything from landing',
    next: 'Read the error of the last look on the queue page, and repair what the error names.',
  },
  gate_not_started: {
    says: 'No gate run has begun on the staged commit',
    next: 'Check that Actions are on, that the gate workflow is not switched off, and that a runner has the labels that it asks for. Then press "Pause the queue" in the settings, and a minute later "Resume the queue", which stages the batch anew and keeps each schedule: no run begins later for a branch that was pushed before.',
  },
  no_runner: {
    says: 'The gate run waits for a runner',
    next: 'Check that a runner is online and free, that it has the labels that the workflow asks for, and that no other run holds its concurrency group.',
  },
  checks_not_reported: {
    says: 'None of the required statuses has been reported on the staged commit',
    next: 'Check that the other CI is up and builds the staging branch, and that it posts the contexts in the settings.',
  },
  gate_slow: {
    says: 'The gate takes longer than it usually does',
    next: 'Open the gate run, and check its runner. With a deadline in the settings the queue starts it again by itself.',
  },
  forge_slow: {
    says: 'The forge does not carry out what the queue asked for',
    next: 'Look for errors in the log of the forge.',
  },
  people: {
    says: 'For longer than a day none of the pull requests in the queue could be staged',
    next: 'Open each of them on the queue page: it says whose turn it is.',
  },
  paused: {
    says: 'The queue has been paused for longer than a day, without an end',
    next: 'If the pause was forgotten, resume the queue in its settings.',
  },
} as const;
export type StandstillCause = keyof typeof STANDSTILLS;
export const STANDSTILL_CAUSES = Object.keys(STANDSTILLS) as readonly StandstillCause[];

/** Words of a standstill and the next step, with the labels of the runner that is waited for, where the forge tells them. */
export function sayStandstill({ cause, labels = [] }: Pick<Standstill, 'cause' | 'labels'>): {
  readonly says: string;
  readonly next: string;
} {
  if (cause !== 'no_runner' || labels.length === 0) return STANDSTILLS[cause];
  const wanted = sayRunner(labels);
  return {
    says: `The gate run waits for ${wanted}`,
    next: `Check that ${wanted} is online and free, or change runs-on in the gate workflow.`,
  };
}

export interface Standstill {
  readonly cause: StandstillCause;
  /** Of `no_runner`: labels that the runner has to have. Absent: not known. */
  readonly labels?: readonly string[];
  /** Since when nothing has moved. */
  readonly since: EpochMs;
  /** 95 in 100 take no longer; null: not known for this cause. */
  readonly usualMs: number | null;
}

export interface StandstillFacts {
  readonly repo: ManagedRepo;
  readonly isOnHold: boolean;
  readonly view: QueueView | undefined;
  readonly outcome: ReconcileOutcome | undefined;
  /** Rows of this repo. */
  readonly batches: readonly NodeRow[];
  readonly now: EpochMs;
}

const OF_FORGE: readonly BlockKind[] = ['staging', 'merge', 'revoke', 'gate_retry'];

/** A look that went through, and found what keeps everything from landing. */
const OF_FINDINGS: readonly (ReconcileErrorCode | null)[] = [
  'gate_missing',
  'foreign_gate_status',
  'gate_timeout',
  'gate_infrastructure',
  'protection_conflict',
  'base_missing',
  'branch_name_taken',
  'another_queue',
  'success_stands',
  'base_red',
  'tree_mismatch',
  'record_too_large',
];

/** Null: the queue moves as usual, nothing waits in it, or it is off. */
export function findStandstill(facts: StandstillFacts): Standstill | null {
  const { repo, isOnHold, view } = facts;
  if (!repo.queueEnabled || isOnHold || view === undefined) return null;
  if (isEmpty(view)) return findBlindnessOfEmpty(facts);
  return findPause(facts) ?? findBlindness(facts) ?? findWait(view, facts);
}

/** A queue that looks empty may not be: a forge that cannot be read shows no schedule. Rights that were taken away are a drift. */
function findBlindnessOfEmpty(facts: StandstillFacts): Standstill | null {
  if (facts.outcome?.errorCode === 'forge_access_denied') return null;
  const blindness = findBlindness(facts);
  if (blindness?.cause !== 'looks_fail') return null;
  return facts.now - blindness.since > BLIND_WHILE_EMPTY_MS ? blindness : null;
}

function isEmpty({ places, block }: QueueView): boolean {
  return block.kind === 'empty' || places.every(({ state }) => state === 'bounced');
}

function findPause({ repo, now }: StandstillFacts): Standstill | null {
  const pause = pauseAt(repo, now);
  if (pause === null || pause.until !== null || now - pause.since <= DAY_MS) return null;
  return { cause: 'paused', since: pause.since, usualMs: null };
}

function findBlindness({ view, outcome, now }: StandstillFacts): Standstill | null {
  if (outcome?.ok === false && !goesOnSince(outcome, view?.block)) {
    const since = outcome.lastGoodAt ?? outcome.retryingSince ?? outcome.ranAt;
    const cause = isOfFindings(outcome) ? 'stopped' : 'looks_fail';
    return now - since > LOOKED_WITHIN_MS ? { cause, since, usualMs: null } : null;
  }
  const since = Math.max(view?.at ?? 0, outcome?.ranAt ?? 0);
  return now - since > LOOKED_WITHIN_MS ? { cause: 'not_looked', since, usualMs: null } : null;
}

function isOfFindings({ errorCode }: ReconcileOutcome): boolean {
  return OF_FINDINGS.includes(errorCode);
}

/** Until when it is known that the gate has not moved: while looks fail it may have begun, or ended, without being seen. */
function gateSeenAt({ outcome, view, now }: StandstillFacts): EpochMs {
  if (outcome?.ok !== false || isOfFindings(outcome) || goesOnSince(outcome, view?.block)) return now;
  return outcome.lastGoodAt ?? Number.NEGATIVE_INFINITY;
}

function findWait({ block, places }: QueueView, facts: StandstillFacts): Standstill | null {
  const { repo, batches, now } = facts;
  const { kind, since, runUrl, labels } = block;
  if (since === null) return null;
  const seenAt = kind === 'gate' || kind === 'runner' ? gateSeenAt(facts) : now;
  const past = (ms: number): boolean => seenAt - since > Math.max(SHORTEST_MS, ms);
  if (kind === 'gate') {
    const usualMs = usualGateMs(batches);
    const unbegun = repo.gate === 'statuses' ? 'checks_not_reported' : 'gate_not_started';
    if (runUrl === null && past(0)) return { cause: unbegun, since, usualMs };
    return past(TOLD_AT * (usualMs ?? UNTAUGHT_GATE_MS)) ? { cause: 'gate_slow', since, usualMs } : null;
  }
  if (kind === 'runner' && past(0))
    return { cause: 'no_runner', since, usualMs: null, ...(labels === undefined ? {} : { labels }) };
  if (kind === 'runner') return null;
  const ofForge: Standstill = { cause: 'forge_slow', since, usualMs: null };
  if (OF_FORGE.includes(kind)) return past(0) ? ofForge : null;
  if (kind !== 'admission') return null;
  const waiting = places.filter(({ state }) => state !== 'bounced');
  if (waiting.every(({ reason }) => reason === 'staging_failed'))
    // Of one alone it may be something about that one; where none of several is left to be staged, it is the forge.
    return past(waiting.length > 1 ? 0 : DAY_MS) ? ofForge : null;
  return past(DAY_MS) ? { cause: 'people', since, usualMs: null } : null;
}

/** From staging to the end of a node that a gate run of its own judged: 95 in 100 take no longer. Null: too few are known. */
function usualGateMs(batches: readonly NodeRow[]): number | null {
  const took = batches
    .filter(
      ({ gateVerdict, gateSource }) => gateSource === null && ['success', 'failure'].includes(gateVerdict),
    )
    .flatMap(({ createdAt, resolvedAt }) => (resolvedAt === null ? [] : [resolvedAt - createdAt]))
    .sort((one, other) => one - other);
  if (took.length < GATE_RUNS_MIN) return null;
  return took[Math.ceil(took.length * 0.95) - 1] ?? null;
}
