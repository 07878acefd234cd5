import type { PullRecord, RepoRecord } from '../model.ts';
import { gitOf, type World } from '../world.ts';
import { addEntry } from './timeline.ts';
import { pullEvent, sendWebhooks } from './webhooks.ts';

export type MarkRefusal = 'style_forbidden' | 'wrong_commit';

/**
 * A person calls a pull request merged, and names a commit that the base holds (`MergedManually` of both forges). The forge
 * looks at no rule, at no conflict, and not at what the commit changes.
 *
 * @returns null: it counts as merged now
 */
export async function markMerged(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  { doer, commit }: { readonly doer: string; readonly commit: string },
): Promise<MarkRefusal | null> {
  if (!repo.allowedStyles.includes('manually-merged')) return 'style_forbidden';
  const git = gitOf(world, repo);
  const tip = git.tip(pull.base);
  if (tip === null || !(await git.isAncestor(commit, tip))) return 'wrong_commit';
  const now = world.timers.now();
  Object.assign(pull, { merged: true, state: 'closed', mergeCommit: commit, mergedBy: doer, mergedAt: now });
  pull.closedAt = now;
  pull.schedule = null;
  addEntry(world, pull, 'merge_pull', doer, { commit });
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'closed', doer));
  return null;
}
