import type { ForgeControl } from '../control.ts';
import type { RepoRecord } from '../model.ts';

/** Merges into one branch, oldest first. */
export function convertMerges({ merges }: RepoRecord, base: string): ReturnType<ForgeControl['merges']> {
  return merges
    .filter((merge) => merge.base === base)
    .map((merge) => ({
      pr: merge.pull,
      head: merge.head,
      mergeCommit: merge.mergeCommit,
      tree: merge.tree,
      firstParent: merge.previousTip,
      at: merge.at,
    }));
}
