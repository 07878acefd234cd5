import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { isGone } from './is-gone.ts';

/** Null: the forge has none of this number, or says so. */
export async function readOrNone(
  forge: EngineForge,
  baseBranch: string,
  pr: PullRequestNumber,
): Promise<PullRequest | null> {
  try {
    return await forge.readPullRequest(pr);
  } catch (error) {
    if (await isGone(forge, baseBranch, error)) return null;
    throw error;
  }
}
