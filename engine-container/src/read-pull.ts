import type { PullRequest } from '#core/domain/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';

/** Null: the forge has none of this number, or says so. */
export async function readOrNone(forge: EngineForge, pr: PullRequestNumber): Promise<PullRequest | null> {
  try {
    return await forge.readPullRequest(pr);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'missing') return null;
    throw error;
  }
}
