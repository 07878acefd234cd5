import { newestOf } from '#core/domain/wakes/forge-sight.ts';
import { ForgeError, type ForgeReader } from '#core/ports/forge.ts';
import type { GlanceAnswer, GlanceRequest } from '#core/ports/idle-look.ts';

export type GlancedAtForge = Pick<ForgeReader, 'listTouchedPullRequests' | 'readBranchTip'>;

/** A branch as two calls show it. A forge that complains is left alone until the next look: its failure ends the chain. */
export async function glanceAt(
  forge: GlancedAtForge,
  { baseBranch }: Pick<GlanceRequest, 'baseBranch'>,
): Promise<GlanceAnswer> {
  try {
    const [tip, touched] = await Promise.all([
      forge.readBranchTip(baseBranch),
      forge.listTouchedPullRequests(),
    ]);
    const pulls = touched
      .filter(({ baseRef }) => baseRef === baseBranch)
      .map(({ number, headSha, updatedAt }) => ({ pr: number, head: headSha, updatedAt }));
    return { kind: 'seen', tip, newest: newestOf(pulls) };
  } catch (error) {
    if (error instanceof ForgeError) return { kind: 'failed' };
    throw error;
  }
}
