import type { BranchProtection } from '#core/domain/forge/forge.ts';
import { includesLogin } from '#core/domain/repos/schedule-rules.ts';

/** Among those who may merge, where the rule has a list of them. Its teams: only they can tell. */
export function findListed(
  { mergeList, mergeTeams }: BranchProtection,
  login: string,
): 'listed' | 'unlisted' | { readonly inTeams: readonly string[] } {
  if (mergeList === undefined || includesLogin(mergeList, login)) return 'listed';
  return mergeTeams === undefined ? 'unlisted' : { inTeams: mergeTeams };
}
