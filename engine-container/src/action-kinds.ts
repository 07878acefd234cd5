import type { ForgeErrorKind } from '#core/ports/forge.ts';
import type { Action } from './queue/actions.ts';

/** Refusals that are about the token, the repository or the caller, whatever was asked. */
export const OF_EVERYTHING: readonly ForgeErrorKind[] = ['denied', 'archived', 'rate_limited'];

export function isStaging(action: Action): boolean {
  return action.kind === 'stage_batch' || action.kind === 'stage_tree';
}

/** Something else waits for what this comes to. */
export function isAwaited(action: Action): boolean {
  return isStaging(action) || action.kind === 'probe_schedule' || isLandingPost(action);
}

export function isTakingBack(action: Action): boolean {
  return action.kind === 'post_status' && action.takesBack === true;
}

export function isMereWords(action: Action): boolean {
  return action.kind === 'post_status' && action.purpose === 'pending' && action.takesBack !== true;
}

function isLandingPost(action: Action): boolean {
  return action.kind === 'post_status' && action.purpose === 'landing';
}
