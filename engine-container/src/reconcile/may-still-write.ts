import type { EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { Action } from '../queue/actions.ts';

/**
 * A hook of the forge that refuses a push is answered with the same 403 as a token without the right (seen on Gitea).
 * Whether the token may still write is asked by making a branch of ours, where no gate run starts; it is removed at once.
 * False for every other failure. Throws `ForgeError`.
 */
export async function mayStillWrite(forge: EngineForge, action: Action, error: ForgeError): Promise<boolean> {
  const isPatch = error.call === PATCH && error.status === 403 && error.missingScopes.length === 0;
  if (!isPatch || (action.kind !== 'stage_batch' && action.kind !== 'stage_tree')) return false;
  await forge.createBranch(action.workBranch, action.groundSha);
  await forge.deleteBranch(action.workBranch);
  return true;
}

const PATCH = 'POST diffpatch';
