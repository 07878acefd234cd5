import { ForgeError, type ForgeErrorKind } from '#core/ports/forge.ts';
import { type Action, isStaging } from '../queue/actions.ts';

/** Refusals that are about the token, the repository or the caller, whatever was asked. */
export const OF_EVERYTHING: readonly ForgeErrorKind[] = ['denied', 'archived', 'rate_limited'];

/** Does the refusal speak of more than what was asked for? An account may be kept from scheduling merges or from deleting, and from nothing else. */
export function isOfEverything(action: Action, error: unknown): error is ForgeError {
  if (!(error instanceof ForgeError) || !OF_EVERYTHING.includes(error.kind)) return false;
  return error.kind !== 'denied' || !(action.kind === 'probe_schedule' || isTidyUp(action));
}

/** Something else waits for what this comes to. */
function isAwaited(action: Action): boolean {
  return isStaging(action) || action.kind === 'probe_schedule' || isLandingPost(action);
}

export function isTakingBack(action: Action): boolean {
  return action.kind === 'post_status' && action.takesBack === true;
}

function isMereWords(action: Action): boolean {
  return action.kind === 'post_status' && action.purpose === 'pending' && action.takesBack !== true;
}

/** Removes what is left behind. Nothing that is decided depends on it, and one that failed is put off by minutes (`LATE_EFFECT_MS`). */
function isTidyUp({ kind }: Action): boolean {
  return kind === 'delete_branch' || kind === 'cancel_gate_run';
}

function isLandingPost(action: Action): boolean {
  return action.kind === 'post_status' && action.purpose === 'landing';
}

/**
 * The fate of the actions behind one that failed. `goes_on` and `fails_alone`: all of them are tried, and with the latter the
 * reconcile has failed. `takes_back`: only those that take a success back. `stops`: none.
 */
export type AfterFailure = 'goes_on' | 'fails_alone' | 'takes_back' | 'stops';

/** @param isAway - The forge has asked not to be called for a while. */
export function afterFailure(action: Action, forgeAnswers: boolean, isAway: boolean): AfterFailure {
  // Words that cannot be written are counted and dropped: meanwhile the others go on.
  if (forgeAnswers && isMereWords(action)) return 'goes_on';
  // A tidy-up that fails holds up nothing else, nor the passes of this reconcile that are still to come.
  if (forgeAnswers && isTidyUp(action)) return 'goes_on';
  if (forgeAnswers && !isAwaited(action)) return 'fails_alone';
  // A forge that is away is not asked for each of them.
  return isTakingBack(action) || isAway ? 'stops' : 'takes_back';
}
