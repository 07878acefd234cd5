import type { Mutant } from './mutants.ts';

const ENGINE = 'engine-container/src';

/** Guards of decision 0276: what a rebase may leave out. */
export const REBASE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a commit that a rebase may leave out is staged only where that makes no difference',
    file: `${ENGINE}/plan-member.ts`,
    find: 'if (leftOut.size === 0) return plan;',
    replace: 'if (leftOut.size >= 0) return plan;',
    families: ['people'],
    dies: 'a change that the base took back comes again in a rebase',
  },
  {
    guard: 'what lands before it in its batch counts as on the base',
    file: `${ENGINE}/rebased-over.ts`,
    find: '    this.#before.push(...steps);\n',
    replace: '',
    families: ['people'],
    dies: 'a change that was taken back in its batch comes again in a rebase',
  },
  {
    guard: 'a merge that a forge may keep or drop is staged only where that makes no difference',
    file: `${ENGINE}/plan-member.ts`,
    find: "if (hasMerges(own) && !(await this.#isLikeItsMerges(member, plan))) return 'merges_in_rebase';",
    replace: '',
    families: ['people'],
    dies: 'an author changes something in a merge that a rebase drops',
  },
];
