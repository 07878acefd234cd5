import type { CommitSha } from '#core/domain/ids.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { isGone } from './is-gone.ts';

/**
 * Has the forge no such commit, and answers otherwise? One that was put back from an older copy of itself lacks what came since.
 * A list of commits does not say so: where a commit that it is to leave out is not there, it is a bare 500 (forge facts, 6.1).
 */
export async function isLost(
  forge: Pick<EngineForge, 'readCommit' | 'readBranchTip'>,
  baseBranch: string,
  sha: CommitSha,
): Promise<boolean> {
  try {
    await forge.readCommit(sha);
    return false;
  } catch (error) {
    return isGone(forge, baseBranch, error);
  }
}
