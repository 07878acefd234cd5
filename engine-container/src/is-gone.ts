import { type EngineForge, ForgeError } from '#core/ports/forge.ts';

/**
 * Is what was asked for gone, by this error? Only where the base branch still reads: to an account that may not see it a
 * repository answers as if nothing in it were there (forge facts), while all of it stands and merges as before.
 * Other errors of the forge say nothing of the kind. Throws what the reading of the base throws, which is `missing` where the
 * repository is hidden.
 */
export async function isGone(
  forge: Pick<EngineForge, 'readBranchTip'>,
  baseBranch: string,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof ForgeError) || error.kind !== 'missing') return false;
  return (await forge.readBranchTip(baseBranch)) !== null;
}
