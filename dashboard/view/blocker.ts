import type { ResultOf } from '#core/contracts/routes/client.ts';
import { sayRunner } from '#core/domain/forge/runner-labels.ts';
import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { goesOnSince } from '#core/domain/queue/goes-on.ts';
import { secondsBetween, showClock, showDuration } from './format.ts';
import { heldFreeze } from './freeze.ts';
import { isPaused, sayPaused } from './pause.ts';
import type { Tone } from './tone.ts';

/** A queue with a batch out is looked at when the engine said it would be, and within a minute of it. */
const SILENT_MS = 60_000;
/** Every other queue is looked at by each timer. */
const UNSEEN_MS = 3 * TICK_INTERVAL_MS;

export type ActivityDoc = ResultOf<'readActivity'>;
export type RepoActivity = ActivityDoc['repos'][number];
export type StatusEntry = ResultOf<'readQueueStatus'>['repos'][number];
type Block = NonNullable<RepoActivity['queue']>['block'];

/** Where the fix is, when it is the reader's to make. */
export type Remedy = 'settings' | 'setup' | 'billing' | 'connections' | 'forge' | null;

export interface Blocker {
  readonly tone: Tone;
  /** One sentence without its times. */
  readonly text: string;
  readonly since: string | null;
  readonly until: string | null;
  /** Looks, or the gate run, have failed since then, and this is the next try; null: none is known. Absent: nothing fails. */
  readonly nextTry?: string | null;
  readonly runUrl: string | null;
  readonly pr: number | null;
  readonly remedy: Remedy;
}

const NOTHING = { since: null, until: null, runUrl: null, pr: null, remedy: null } as const;

/** The obstacle before the next landing of a repo; where it lasts longer than usual, what to do about it. */
export function findBlocker(
  activity: RepoActivity,
  repo: StatusEntry | null,
  now: number = Date.now(),
): Blocker {
  const blocker = findObstacle(activity, repo, now);
  const { standstill } = activity;
  return standstill === null
    ? blocker
    : {
        ...blocker,
        tone: 'stop',
        since: standstill.since,
        until: null,
        text: sayStandstill(standstill, activity),
      };
}

function sayStandstill(
  { cause, says, next, usual_seconds: usual }: NonNullable<RepoActivity['standstill']>,
  { last_reconcile_error: error }: RepoActivity,
): string {
  if (error !== null && ['looks_fail', 'stopped'].includes(cause))
    return `It stands still. ${says}. ${error.replace(/\.$/, '')}`;
  const known = usual === null ? '' : `, which is ${showDuration(usual)} at most for 95 in 100`;
  return `It stands still. ${says}${known}. ${next.replace(/\.$/, '')}`;
}

/** The first of these that holds. */
function findObstacle(activity: RepoActivity, repo: StatusEntry | null, now: number): Blocker {
  if (repo?.hold_reason === 'payment_required') {
    return {
      ...NOTHING,
      tone: 'stop',
      remedy: 'billing',
      text: 'Held: the plan is not paid, so this repository is not processed',
    };
  }
  if (repo?.queue_enabled === false || activity.state === 'disabled') {
    return { ...NOTHING, tone: 'quiet', remedy: 'settings', text: 'The queue is switched off' };
  }
  const pause = blockerOfPause(activity, repo, now);
  if (pause !== null) return pause;
  const failed = blockerOfOutcome(activity);
  if (failed !== null) return failed;
  const unfinished = blockerOfSetup(repo);
  const { queue } = activity;
  if (queue === null) {
    if (unfinished !== null) return unfinished;
    if (activity.last_reconcile === null) {
      return {
        ...NOTHING,
        tone: 'unknown',
        until: activity.next_look_at,
        text: 'The queue has not looked at this repository yet',
      };
    }
    return { ...NOTHING, tone: 'unknown', text: 'Unknown: what the queue last saw could not be read' };
  }
  const silent = blockerOfSilence(activity, queue, now);
  if (silent !== null) return silent;
  // Where a rule asks for the status, pull requests land without a verification as well.
  const mayLand = repo?.provisioning.protection.required === true;
  if (queue.block.kind === 'empty' && unfinished !== null && !mayLand) return unfinished;
  const bounced = queue.line.filter(({ state }) => state === 'bounced').length;
  return blockerOfQueue(queue.block, queue.line.length + queue.line_more - bounced);
}

/** The lack of the setup that keeps the first landing away; null: none is known. */
function blockerOfSetup(repo: StatusEntry | null): Blocker | null {
  const gate = repo?.provisioning.ci_gate.status;
  if (gate === undefined || gate === 'verified') return null;
  return {
    ...NOTHING,
    tone: 'busy',
    remedy: 'setup',
    text: 'Setup is not finished: the gate has not been seen to pass',
  };
}

/** The engine should have looked and has not: what stands below is old, whatever it says. */
function blockerOfSilence(
  { lease_state: lease, last_reconcile: looked, next_look_at: next }: RepoActivity,
  { seen_at: seen, block }: NonNullable<RepoActivity['queue']>,
  now: number,
): Blocker | null {
  const since = looked !== null && looked > seen ? looked : seen;
  if (block.kind === 'empty' && lease !== 'held' && now - Date.parse(since) > UNSEEN_MS)
    return {
      ...NOTHING,
      since,
      tone: 'unknown',
      text: 'Unknown: no look has come to this queue, so a pull request may wait that it has not seen',
    };
  // Of what is overdue the service tells the next timer, which is always to come.
  const isOverdue = now - Date.parse(since) > TICK_INTERVAL_MS + SILENT_MS;
  const isDue = next === null || isOverdue || now - Date.parse(next) > SILENT_MS;
  const isOut = block.kind === 'staging' || IN_FLIGHT.includes(block.kind);
  if (!isOut || !isDue || lease === 'held' || now - Date.parse(since) <= SILENT_MS) return null;
  return {
    ...NOTHING,
    since,
    runUrl: block.run_url,
    pr: block.pr,
    tone: 'unknown',
    text: 'The engine is silent: it has not looked at this queue for over a minute; the five-minute timer wakes it',
  };
}

const IN_FLIGHT: readonly (string | undefined)[] = ['gate', 'runner', 'merge', 'revoke', 'gate_retry'];

/** While something is in flight under a drain, or is still taken back, that is what it waits for. */
function blockerOfPause(activity: RepoActivity, repo: StatusEntry | null, now: number): Blocker | null {
  const pause = repo?.pause ?? null;
  if (pause === null || !isPaused(pause, now)) return blockerOfFreeze(activity, now);
  const block = activity.queue?.block;
  if (pause.kind === 'drain' && IN_FLIGHT.includes(block?.kind)) return null;
  const { since, until } = pause;
  return { ...NOTHING, since, until, tone: 'stop', remedy: 'settings', text: sayPaused(pause) };
}

/** An exempt pull request in flight goes on in a freeze window, and so does one that is taken back. */
function blockerOfFreeze({ freeze, queue }: RepoActivity, now: number): Blocker | null {
  const held = heldFreeze(freeze, now);
  if (held === null || (queue !== null && IN_FLIGHT.includes(queue.block.kind))) return null;
  const text = `Frozen: ${held.reason}. Nothing lands that is not exempt, and no pull request loses its place`;
  return { ...NOTHING, since: held.since, until: held.until, tone: 'stop', remedy: 'settings', text };
}

function goesOn({ last_reconcile: ranAt, queue }: RepoActivity): boolean {
  if (ranAt === null || queue === null) return false;
  const { kind, since } = queue.block;
  const block = { kind, since: since === null ? null : Date.parse(since) };
  return goesOnSince({ ranAt: Date.parse(ranAt) }, block);
}

/** A reconcile that failed says more than what was seen before it. */
function blockerOfOutcome(activity: RepoActivity): Blocker | null {
  const code = activity.last_reconcile_error_code;
  // The queue itself says more of these.
  const shown: readonly (typeof code)[] = ['lease_lost', 'timeout', 'base_red', 'gate_infrastructure'];
  if (code === null || shown.includes(code) || goesOn(activity)) return null;
  // Of the failures only the newest is kept: they began after the last look that went well.
  const common = { ...NOTHING, since: activity.last_good_reconcile, nextTry: activity.next_look_at };
  const text = activity.last_reconcile_error?.replace(/\.$/, '') ?? 'The last look at the forge failed';
  switch (code) {
    case 'another_queue':
      return { ...common, tone: 'stop', text, remedy: 'settings' };
    case 'tree_mismatch':
      if (activity.queue?.block.kind === 'tree_mismatch') return blockerOfQueue(activity.queue.block, 0);
      return { ...common, tone: 'stop', text, remedy: 'settings' };
    case 'success_stands':
      return {
        ...common,
        tone: 'stop',
        text,
        remedy: 'forge',
        pr: activity.queue?.block.pr ?? null,
      };
    case 'gate_missing':
    case 'foreign_gate_status':
    case 'gate_timeout':
    case 'protection_conflict':
      return { ...common, tone: 'stop', text, remedy: 'setup' };
    case 'record_too_large':
    case 'base_missing':
    case 'branch_name_taken':
      return { ...common, tone: 'stop', text, remedy: 'forge' };
    case 'forge_access_denied':
    case 'decryption_error':
    case 'connection_not_found':
      return { ...common, tone: 'stop', text, remedy: 'connections' };
    default:
      return { ...common, tone: 'busy', text };
  }
}

/** The evidence, and what a person has to do: the queue goes on by itself only once it is switched off and on. */
function sayMismatch({ pr, evidence }: Block): string {
  const what = `Stopped: #${pr ?? '?'} landed`;
  const toDo = 'Check the base branch, revert what is wrong, then switch the queue off and on';
  if (evidence === null) return `${what} with a tree that was not the proven one. ${toDo}`;
  const [merge, landed, proven, base] = [
    evidence.merge_commit,
    evidence.landed_tree,
    evidence.proven_tree,
    evidence.base_before,
  ].map((id) => id.slice(0, 10));
  return landed === proven
    ? `${what} as ${merge} with the proven tree ${proven}, but not on the tip ${base} that it was proven on. ${toDo}`
    : `${what} as ${merge} with tree ${landed}; the gate had proven tree ${proven} on ${base}. ${toDo}`;
}

function blockerOfQueue(block: Block, waiting: number): Blocker {
  const facts = { since: block.since, until: block.until, runUrl: block.run_url, pr: block.pr };
  const one = block.pr === null ? '' : ` of #${block.pr}`;
  switch (block.kind) {
    case 'empty':
      return { ...NOTHING, tone: 'clear', text: 'The queue is clear: nothing waits to land' };
    case 'gate':
      return {
        ...facts,
        tone: 'busy',
        remedy: null,
        text: `Waiting for the gate run${one || ' of the batch'}`,
      };
    case 'runner':
      return {
        ...facts,
        tone: 'busy',
        remedy: null,
        text: `Waiting for ${sayRunner(block.runner_labels ?? [])} to take the gate run${one || ' of the batch'}`,
      };
    case 'merge':
      return {
        ...facts,
        tone: 'busy',
        remedy: null,
        text: `Proven: waiting for the forge to merge${one ? ` #${block.pr}` : ''}`,
      };
    case 'revoke':
      return {
        ...facts,
        tone: 'busy',
        remedy: null,
        text: `Taking back the success${one}, in case a merge is still under way`,
      };
    case 'gate_retry':
      return {
        ...facts,
        // No deadline: before this time it is not begun.
        until: null,
        nextTry: block.until,
        tone: 'busy',
        remedy: null,
        text: 'The gate run was cancelled or broke down; it is begun again',
      };
    case 'staging':
      return { ...facts, tone: 'busy', remedy: null, text: 'Building the next batch' };
    case 'linger':
      return {
        ...facts,
        tone: 'busy',
        remedy: 'settings',
        text: 'Waiting for more pull requests to join the batch',
      };
    case 'paused':
      return {
        ...facts,
        tone: 'stop',
        remedy: 'forge',
        text: 'Waiting: gate runs kept breaking off, through no fault of a change; the queue tries again by itself',
      };
    case 'paused_by_owner':
      return { ...facts, tone: 'stop', remedy: 'settings', text: 'Paused by its owner' };
    case 'base_red':
      return {
        ...facts,
        tone: 'stop',
        remedy: 'forge',
        text: 'The base branch itself fails the gate; no pull request is blamed until it is repaired',
      };
    case 'gate_missing':
      return {
        ...facts,
        tone: 'stop',
        remedy: 'setup',
        text: 'The gate is missing: its workflow file on the base branch, or the contexts of a gate by statuses',
      };
    case 'tree_mismatch':
      return {
        ...facts,
        tone: 'stop',
        remedy: 'settings',
        text: sayMismatch(block),
      };
    case 'admission':
      return {
        ...facts,
        tone: 'busy',
        remedy: 'forge',
        text:
          waiting === 1
            ? 'The one pull request in the queue may not be staged yet'
            : `None of the ${waiting} pull requests in the queue may be staged yet`,
      };
    default:
      // A newer service may know more kinds.
      return {
        ...facts,
        tone: 'unknown',
        remedy: null,
        text: 'Unknown: this page does not know what the queue waits for',
      };
  }
}

/** `since 14:02 (3 min), until 14:12 at the latest`, or `failing since 14:02 (3 h), next try 17:05`; empty when nothing is known. */
export function sayTimes(blocker: Pick<Blocker, 'since' | 'until' | 'nextTry'>, now: number): string {
  const { since, until, nextTry } = blocker;
  const isFailing = nextTry !== undefined;
  const parts: string[] = [];
  if (since !== null) {
    const from = `since ${showClock(since, now)} (${showDuration(secondsBetween(since, now))})`;
    parts.push(isFailing ? `failing ${from}` : from);
  } else if (isFailing) parts.push('no look has gone well yet');
  if (until !== null && Date.parse(until) > now) parts.push(`until ${showClock(until, now)} at the latest`);
  if (isFailing && nextTry !== null && Date.parse(nextTry) > now)
    parts.push(`next try ${showClock(nextTry, now)}`);
  return parts.join(', ');
}
