import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { Action } from './queue/actions.ts';

/**
 * Whether the forge refused this because a rule covers the branches of the queue: no account may delete or rewrite a protected
 * branch, and only those whom the rule names push to it. The 403 is that of a token without the right.
 */
export async function isOwnBranchRuled(forge: EngineForge, action: Action, error: unknown): Promise<boolean> {
  if (!(error instanceof ForgeError) || error.status !== 403 || error.missingScopes.length > 0) return false;
  try {
    for (const branch of branchesOf(action)) if ((await forge.readProtection(branch)) !== null) return true;
  } catch (silence) {
    // A bot that is no administrator is not told of a rule over a branch that is not there.
    if (!(silence instanceof ForgeError)) throw silence;
  }
  return false;
}

function branchesOf(action: Action): readonly string[] {
  switch (action.kind) {
    case 'stage_batch':
    case 'stage_tree':
      return [action.branch, action.workBranch];
    case 'delete_branch':
      return [action.branch];
    default:
      return [];
  }
}
