import type { Mutant } from '../mutants.ts';

const MERGE_BASE = 'engine-container/src/staging/merge-base.ts';
const PLAN = 'engine-container/src/staging/plan-member.ts';

/** Guards of merge bases that are told without asking for each commit, and of commits that are too many to list. */
export const LONG_BRANCH_MUTANTS: readonly Mutant[] = [
  {
    guard: 'of many merges of the base only those count that no other one contains',
    file: MERGE_BASE,
    find: '(end === first || parents.has(end)) && !contained.has(end)',
    replace: '(end === first || parents.has(end) || above.length > 0) && !contained.has(end)',
    families: ['calm'],
    dies: 'the base is merged into a branch for weeks',
  },
  {
    guard: 'of many merges of the base the newest one is not taken for the only one',
    file: MERGE_BASE,
    find: '(end === first || parents.has(end)) && !contained.has(end)',
    replace: 'end === first && !contained.has(end)',
    families: ['calm'],
    dies: 'a branch has two merge bases among many merges',
  },
  {
    guard: 'more commits than one listing has are no failure of the forge',
    file: MERGE_BASE,
    find: "if (error instanceof ListingTooLong) return 'too many';",
    replace: '',
    families: ['calm'],
    dies: 'the forge tells a merge base of before',
  },
  {
    guard: 'more commits than one listing has are told as that',
    file: PLAN,
    find: "if (error instanceof ListingTooLong) return 'too_many_commits';",
    replace: '',
    families: ['calm'],
    dies: 'an import is further behind than can be listed',
  },
  {
    guard: 'commits that cannot be listed are not replayed',
    file: PLAN,
    find: "if (mergeStyle === 'rebase' || this.#staged.size > 0) return 'too many';",
    replace: "if (this.#staged.size > 0) return 'too many';",
    families: ['calm'],
    dies: 'more commits than can be listed are to be replayed',
  },
  {
    guard: 'a merge base that the forge has yet to find is waited for',
    file: PLAN,
    find: "(isOfBefore ? null : 'too many')",
    replace: "(isOfBefore && pr < 0 ? null : 'too many')",
    families: ['calm'],
    dies: 'the forge tells a merge base of before',
  },
  {
    guard: 'nothing is planned on top of commits that cannot be listed',
    file: PLAN,
    find: "    if (this.#isUnlisted) return 'unlisted_ahead';\n",
    replace: '',
    families: ['calm'],
    dies: 'one stands on an import in the same batch',
  },
  {
    guard: 'a batch on top of commits that cannot be listed waits for them',
    file: PLAN,
    find: 'await this.#writeBelow(own);\n    this.#addStaged(own);\n',
    replace: "await this.#writeBelow(own);\n    this.#addStaged(own === 'too many' ? [] : own);\n",
    families: ['calm'],
    dies: 'one stands on an import that is under way',
  },
  {
    guard: 'a merge base of before is not taken',
    file: MERGE_BASE,
    find: 'return isSame ? told : null;',
    replace: 'return isSame || missed.size > 0 ? told : null;',
    families: ['calm'],
    dies: 'the forge tells a merge base of before',
  },
  {
    guard: 'more changed files than the memory holds are refused in words',
    file: 'engine-container/src/staging/tree-walk.ts',
    find: "throw new Refused('too_many_files')",
    replace: "throw new Refused('merge_unsure')",
    families: ['calm'],
    dies: 'a few objects stand for a million files',
  },
];
