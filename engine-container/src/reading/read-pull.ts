import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { unlessGone } from './is-gone.ts';

/** Null: the forge has none of this number, or says so. */
export async function readOrNone(
  forge: EngineForge,
  baseBranch: string,
  pr: PullRequestNumber,
): Promise<PullRequest | null> {
  return unlessGone(forge, baseBranch, () => forge.readPullRequest(pr));
}
