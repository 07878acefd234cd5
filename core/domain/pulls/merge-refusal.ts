/** Why a merge is not staged. Each has words of its own for the author. */
const MERGE_REFUSALS = [
  'conflict',
  /** Git could come to more than one result, by its version or by chance. */
  'merge_unsure',
  /** A renamed directory has new files under its old name: git stops there and asks. */
  'directory_renamed',
  /** `.gitattributes` says how the file is to be merged. */
  'merge_rules',
  /** A file to be merged is larger than the forge hands out, or than is merged here. */
  'file_too_large',
  /** The pull request brings a name that is not UTF-8. */
  'name_not_utf8',
  /** The base has such a name where the pull request changes something. */
  'base_name_not_utf8',
  /** Two histories that were merged into each other: more than one merge base. */
  'criss_cross',
  /** It has no commit in common with the base, and so no merge base. */
  'unrelated_history',
  /** A rebase may leave out one of its commits: the base had the same change before. */
  'commit_left_out',
  /** A rebase drops the merges in it, and with them what they changed. */
  'merges_in_rebase',
  /** A rebase would land its commits as they are, and with them a directory with nothing in it, which no staged tree can have. */
  'empty_directory',
  /** Git converts one of its files between disk and history, takes it for changed, and stops the forge's rebase. */
  'file_converted',
  /** More commits lie between it and the base than one listing may have. */
  'too_many_commits',
  /** More files differ between it, the base and where they parted than are compared here. */
  'too_many_files',
] as const;
export type MergeRefusal = (typeof MERGE_REFUSALS)[number];

export function isMergeRefusal(reason: string): reason is MergeRefusal {
  return (MERGE_REFUSALS as readonly string[]).includes(reason);
}
