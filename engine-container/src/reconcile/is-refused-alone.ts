import { absentBranch } from '#core/domain/queue/queue-names.ts';
import type { EngineForge, ForgeError } from '#core/ports/forge.ts';
import { type Action, isStaging } from '../queue/actions.ts';

/**
 * Is a refusal with 403 one of this thing alone? A hook of the forge, or a guard before it, answers as the forge does to a token
 * without the right. So the same right is asked for something else: the forge is read at what was staged on, or written to.
 * False for every other failure. Throws `ForgeError`.
 */
export async function isRefusedAlone(
  forge: EngineForge,
  action: Action,
  error: ForgeError,
): Promise<boolean> {
  if (error.status !== 403 || error.missingScopes.length > 0) return false;
  if (isStaging(action) && error.call.startsWith(READ)) await forge.readTreeId(action.groundSha);
  else if (isStaging(action) && WRITES.includes(error.call)) await makeBranch(forge, action);
  // The removal of a branch that is not there takes the right of a status, and changes nothing.
  else if (action.kind === 'post_status') await forge.deleteBranch(absentBranch(action.sha));
  else return false;
  return true;
}

/** Where no gate run starts; it is removed at once. */
async function makeBranch(
  forge: EngineForge,
  { workBranch: branch, groundSha }: Extract<Action, { kind: 'stage_batch' | 'stage_tree' }>,
): Promise<void> {
  await forge.createBranch(branch, groundSha);
  await forge.deleteBranch(branch);
}

const READ = 'GET ';
const WRITES: readonly string[] = ['POST diffpatch', 'POST contents'];
