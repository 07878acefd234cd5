import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { Action } from '../queue/actions.ts';

/**
 * The branch of the queue that a rule covers, where the forge refused this for that: no account may delete or rewrite a
 * protected branch, and only those whom the rule names push to it. The 403 is that of a token without the right. Forgejo answers
 * a patch for a new branch that is covered with a bare 500, like every other failure (forge facts, 4). Null: the refusal
 * has another reason.
 */
export async function findRuledBranch(
  forge: EngineForge,
  action: Action,
  error: unknown,
): Promise<string | null> {
  if (!(error instanceof ForgeError) || !isRefusal(error)) return null;
  try {
    for (const branch of branchesOf(action)) if (await isBranchRuled(forge, branch)) return branch;
  } catch (silence) {
    if (!(silence instanceof ForgeError)) throw silence;
  }
  return null;
}

function isRefusal({ status, missingScopes }: ForgeError): boolean {
  return status === 500 || (status === 403 && missingScopes.length === 0);
}

/** Whether a rule covers the branch now. A bot that is no administrator is not told of a rule over a branch that is not there. */
export async function isBranchRuled(
  forge: Pick<EngineForge, 'readProtection'>,
  branch: string,
): Promise<boolean> {
  try {
    return (await forge.readProtection(branch)) !== null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'missing') return false;
    throw error;
  }
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
