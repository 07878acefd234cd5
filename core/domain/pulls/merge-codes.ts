import type { MergeRefusal } from './merge-refusal.ts';
import { type PullCode, wait } from './pull-code-kinds.ts';

export const MERGE_BASE = 'Merge the base branch into the branch of this pull request, and push.';

/** Merges that are not staged: git calls them a conflict, or they could come out in more than one way. */
export const MERGE_CODES = {
  conflict: wait(
    'author',
    'refused: conflicts with the base branch; update the branch, and the queue goes on by itself',
    MERGE_BASE,
    true,
  ),
  criss_cross: wait(
    'author',
    'refused: its branch and the base were merged into each other, so git has two merge bases; merge the base into it again',
    MERGE_BASE,
    true,
  ),
  unrelated_history: wait(
    'author',
    'refused: its branch and the base have no commit in common; rebase it onto the base branch',
    'Rebase the branch onto the base branch with "git rebase --root --onto origin/main" (with the name of the base branch), and push it. The queue goes on by itself.',
    true,
  ),
  too_many_commits: wait(
    'author',
    'refused: more than 10,000 commits lie between its branch and the base, too many to read; merge the base into it, or split it',
    `${MERGE_BASE} Under the style rebase that does not help: split it, or squash its commits.`,
    true,
  ),
  too_many_files: wait(
    'author',
    'refused: too many files changed since it and the base parted (some 100,000) or one over 1,000 folders deep; merge the base, or split it',
    `${MERGE_BASE} If it is told again, this pull request alone changes too many files, or has one too deep in its folders: split it, or move that one up.`,
    true,
  ),
  commit_left_out: wait(
    'author',
    'refused: the base had one of its commits before, and a rebase may leave that one out; merge the base branch into it',
    MERGE_BASE,
    true,
  ),
  merges_in_rebase: wait(
    'author',
    'refused: a rebase drops the merge commits in it, and what they changed; rebase it onto the base branch',
    'Rebase the branch onto the base branch, so that it has no merge commits, and push it. The queue goes on by itself.',
    true,
  ),
  empty_directory: wait(
    'author',
    'refused: it has a directory with nothing in it, which git drops when it writes a tree; commit a change beside that directory',
    'Add or change a file in the folder that holds the empty directory, commit that with git, and push it: git leaves the empty one out then. "git ls-tree -rt HEAD" shows it with the id 4b825dc. The queue goes on by itself.',
    true,
  ),
  file_converted: wait(
    'author',
    "refused: git converts a file that differs from the base (text, eol or ident in .gitattributes), and so the forge's rebase stops",
    'Rebase this branch onto the base branch. If it is told again, set -text (or -ident) for that file in a pull request that changes .gitattributes alone, and rebase this branch once that has landed. "git ls-files --eol" shows i/crlf or i/mixed for a file whose line ends are converted; one with ident holds a text between $Id: and $.',
    true,
  ),
  merge_unsure: wait(
    'author',
    'refused: git can merge this in more than one way (a moved or repetitive file); merge the base branch into it',
    MERGE_BASE,
    true,
  ),
  directory_renamed: wait(
    'author',
    'refused: a folder was renamed on one side and has new files on the other; merge the base branch into it',
    MERGE_BASE,
    true,
  ),
  merge_rules: wait(
    'author',
    'refused: .gitattributes rules the merge of a file that both sides changed; merge the base branch into it',
    MERGE_BASE,
    true,
  ),
  file_too_large: wait(
    'author',
    'refused: a file to be merged is larger than the queue or the forge allows; merge the base branch into it',
    MERGE_BASE,
    true,
  ),
  name_not_utf8: wait(
    'author',
    'refused: a file name in this change is not UTF-8, so the forge cannot tell it to the queue; rename the file',
    'Rename the file, and push.',
    true,
  ),
  base_name_not_utf8: wait(
    'operator',
    'waiting: a folder it changes has a file name on the base that is not UTF-8; rename that file there, then update this branch',
    'Rename that file on the base, then merge the base into this branch.',
  ),
} as const satisfies Readonly<Record<MergeRefusal, PullCode>>;
