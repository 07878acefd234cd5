import type { DecisionContext } from '../decision-context.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import { isIncident } from './incidents.ts';
import { endBeforeCrowd } from './turns.ts';

/** One that has passed is held back so often by others of its batch. */
const HELD_BACK_TIMES_MAX = 2;

/** So many in a row could not be staged alone: the next ones are not tried in a batch first. */
const ONE_BY_ONE_AFTER = 2;

/**
 * One that staging failed with is staged alone, in turn with a batch of the others, so that neither kind waits for all of
 * the other. While one after another fails, the others too come one by one.
 */
export function pickNext(
  pass: DecisionContext,
  ready: readonly QueueEntry[],
  size: number,
): readonly QueueEntry[] {
  const { record } = pass;
  // Incidents have a batch of their own: nothing else of a failing batch is to be searched before they land.
  const incidents = ready.filter(isIncident);
  const [first] = incidents;
  if (first !== undefined) return isStagedAlone(first) ? [first] : incidents.slice(0, size);
  const failed = ready.find(isStagedAlone);
  const others = ready.filter((entry) => !isStagedAlone(entry));
  if (failed !== undefined && (others.length === 0 || record.stagedAlone !== true)) return [failed];
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

export function isStagedAlone({ stagingAsides, stagingTries }: QueueEntry): boolean {
  return stagingAsides !== undefined || stagingTries !== undefined;
}

/** It may hold up for as long again what is built on it, so the others have the next turn. */
export function stageAloneAfterOthers({ record }: DecisionContext, entry: QueueEntry): void {
  entry.stagingAsides ??= 0;
  record.stagedAlone = true;
}

/** Whose turn it was, so that it is the turn of the others next. */
export function noteStagingTurn({ record }: DecisionContext, [first]: readonly QueueEntry[]): void {
  if (first !== undefined && isStagedAlone(first)) record.stagedAlone = true;
  else delete record.stagedAlone;
}
