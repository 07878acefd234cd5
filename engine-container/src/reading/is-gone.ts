import { type EngineForge, ForgeError } from '#core/ports/forge.ts';

/**
 * Is what was asked for gone, by this error? Not where the repository does not show: to an account that may not see it, it
 * answers as if nothing in it were there (forge facts), while all of it stands and merges as before. Other errors of the
 * forge say nothing of the kind. The look at the base branch, which may be gone itself, throws `missing` where the repository
 * is hidden, and what it throws is thrown.
 */
export async function isGone(
  forge: Pick<EngineForge, 'readBranchTip'>,
  baseBranch: string,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof ForgeError) || error.kind !== 'missing') return false;
  await forge.readBranchTip(baseBranch);
  return true;
}

/** The answer of a reading; null: the thing that was asked for is gone. Throws as `isGone` does. */
export async function unlessGone<T>(
  forge: Pick<EngineForge, 'readBranchTip'>,
  baseBranch: string,
  read: () => Promise<T>,
): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (await isGone(forge, baseBranch, error)) return null;
    throw error;
  }
}
