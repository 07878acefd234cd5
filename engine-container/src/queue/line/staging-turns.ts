import type { EpochMs } from '#core/domain/ids.ts';
import type { DecisionContext } from '../decision-context.ts';
import { isJudgedAlone, type QueueEntry, rankOf } from '../record/queue-entry.ts';
import { isIncident } from './incidents.ts';
import { endBeforeCrowd } from './turns.ts';

/** A pull request that has passed is held back so often by others of its batch, and then staged without them. */
const HELD_BACK_TIMES_MAX = 2;

/** So many in a row could not be staged alone: the next ones are not tried in a batch first. */
const ONE_BY_ONE_AFTER = 2;

/**
 * A pull request that staging failed with, or whose merge timed out, is staged alone, in turn with a batch of the others, so that
 * neither kind waits for all of the other. Those of a higher priority come first in any case. While one after another
 * fails in staging, the others too come one by one.
 */
export function pickNext(
  pass: DecisionContext,
  ready: readonly QueueEntry[],
  size: number,
): readonly QueueEntry[] {
  const { record, s } = pass;
  const inTurn = ready.filter(({ mergeTimedOut }) => mergeTimedOut !== 'waits');
  const line = inTurn.length > 0 ? inTurn : ready;
  const others = line.filter((entry) => !isStagedAlone(entry));
  // Incidents have a batch of their own: nothing else of a failing batch is to be searched before they land.
  const incident = line.find(isIncident);
  if (incident !== undefined)
    return isStagedAlone(incident) ? [incident] : others.filter(isIncident).slice(0, size);
  const failed = line.find(isStagedAlone);
  const [other] = others;
  if (failed !== undefined) {
    const isTurnOfOthers = record.stagedAlone === true || comesBefore(other, failed, s.now);
    if (other === undefined || !isTurnOfOthers) return [failed];
  }
  const areFailing = (record.stagingFailuresInARow ?? 0) >= ONE_BY_ONE_AFTER;
  return splitOffPassed(endBeforeCrowd(pass, others.slice(0, areFailing ? 1 : size)));
}

/**
 * The front of a batch that has passed, once it was held back by the failures of others: it is not staged with more of them
 * (decision 0249).
 */
function splitOffPassed(batch: readonly QueueEntry[]): readonly QueueEntry[] {
  const untried = batch.findIndex((entry) => !entry.passedOnStaleBase);
  const passed = untried < 0 ? batch : batch.slice(0, untried);
  return passed.some(({ timesHeldBack = 0 }) => timesHeldBack >= HELD_BACK_TIMES_MAX) ? passed : batch;
}

function comesBefore(other: QueueEntry | undefined, failed: QueueEntry, now: EpochMs): boolean {
  return other !== undefined && rankOf(other, now) < rankOf(failed, now);
}

export function isStagedAlone(entry: QueueEntry): boolean {
  return isJudgedAlone(entry) || entry.stagingTries !== undefined || entry.mergeTimedOut !== undefined;
}

/**
 * A pull request whose merge timed out may hold up for as long again what is built on it, so the others have the next turn. Not where the branch rule lets
 * one land and has each other branch updated: there the place in the line is all that it has.
 */
export function stageAloneAfterOthers({ s }: DecisionContext, entry: QueueEntry): void {
  if (s.protection.known && s.protection.value?.blockOnOutdatedBranch === true) return;
  letOthersGoFirst(entry);
}

export function letOthersGoFirst(entry: QueueEntry): void {
  entry.mergeTimedOut = 'waits';
  if (isIncident(entry)) entry.overtook = entry.head;
}

/** Whose turn it was, so that it is the turn of the others next. A batch of higher priority is no turn of the others. */
export function noteStagingTurn({ record, s }: DecisionContext, staged: readonly QueueEntry[]): void {
  const [first] = staged;
  if (first === undefined) return;
  if (isStagedAlone(first)) record.stagedAlone = true;
  else delete record.stagedAlone;
  for (const entry of record.entries)
    if (entry.mergeTimedOut === 'waits' && !comesBefore(first, entry, s.now)) entry.mergeTimedOut = 'tries';
}
