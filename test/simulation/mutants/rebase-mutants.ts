import type { Mutant } from '../mutants.ts';

const ENGINE = 'engine-container/src';

/** Guards of decision 0276: what a rebase may leave out. */
export const REBASE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a commit that a rebase may leave out is staged only where that makes no difference',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: 'if (leftOut.size > 0) {',
    replace: 'if (leftOut.size < 0) {',
    families: ['people'],
    dies: 'a change that the base took back comes again in a rebase',
  },
  {
    guard: 'what lands before it in its batch counts as on the base',
    file: `${ENGINE}/staging/rebase/rebased-over.ts`,
    find: '    this.#before.push(...steps);\n',
    replace: '',
    families: ['people'],
    dies: 'a change that was taken back in its batch comes again in a rebase',
  },
  {
    guard: 'of what lands before it newly written, each commit may be replayed or left out',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: 'if (leftOut.size < 2 && !steps.some(({ sha }) => this.#staged.has(sha))) return true;',
    replace: 'if (leftOut.size >= 0) return true;',
    families: ['people'],
    dies: 'a pull request stands on one that a rebase writes anew',
  },
  {
    guard: 'what lands before it counts as a rebase writes it',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: '    this.#over.add(written);\n',
    replace: '',
    families: ['people'],
    dies: 'what a rebase leaves of a commit is the change of another one',
  },
  {
    guard: 'lines that differ in white space alone are one patch',
    file: `${ENGINE}/staging/patch-text.ts`,
    find: "text.replace(/\\s+/g, '')",
    replace: 'text',
    families: ['people'],
    dies: 'a change comes again with other white space in a rebase',
  },
  {
    guard: 'a history of its own is replayed from its first commit',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: "if (hasRoots(own)) return 'merges_in_rebase';",
    replace: '',
    families: ['people'],
    dies: 'a pull request imports a history in a rebase',
  },
  {
    guard: 'a branch without a commit of the base is told as that under rebase',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: "if (isUnrelated(own)) return 'unrelated_history';",
    replace: '',
    families: ['people'],
    dies: 'the branch of a pull request shares no commit with the base, in a rebase',
  },
  {
    guard: 'a branch without a commit of the base is no conflict',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: "if (fork === null) return 'unrelated_history';",
    replace: "if (fork === null) return 'conflict';",
    families: ['people'],
    dies: 'the branch of a pull request shares no commit with the base, in a squash',
  },
  {
    guard: 'a branch without a commit of the base is told as that behind what is in flight as well',
    file: `${ENGINE}/queue/fold-staging.ts`,
    find: "  'unrelated_history',\n];",
    replace: '];',
    families: ['people'],
    dies: 'the branch of a pull request shares no commit with the base, behind a batch in flight',
  },
  {
    guard: 'a merge that a forge may keep or drop is staged only where that makes no difference',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: "if (hasMerges(own) && !(await this.#isLikeItsMerges(member, plan))) return 'merges_in_rebase';",
    replace: '',
    families: ['people'],
    dies: 'an author changes something in a merge that a rebase drops',
  },
];
