import type { Mutant } from '../mutants.ts';

const ENGINE = 'engine-container/src';

/** Guards of decision 0284: a rebase that checks files out stops at one that git converts. */
export const CONVERTED_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a file that git converts is refused where a rebase checks it out',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: "return refusal === null ? 'head_not_ready' : refusal === 'none' ? plan : refusal;",
    replace: "return refusal === null ? 'head_not_ready' : plan;",
    families: ['people'],
    dies: 'a rebase stops at a file that git converts',
  },
  {
    guard: 'a forge that leaves a head as it is which holds the whole base is not held to it',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: '    if (holdsBase && !this.#action.rebasesUpToDate) return plan;\n',
    replace: '',
    families: ['people'],
    dies: 'a forge checks out the heads alone that lack its base',
  },
  {
    guard: 'every forge is held to it with a head that is behind',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: 'if (holdsBase && !this.#action.rebasesUpToDate) return plan;',
    replace: 'if (!this.#action.rebasesUpToDate) return plan;',
    families: ['people'],
    dies: 'a forge checks out the heads alone that lack its base',
  },
  {
    guard: 'a head that has merged the base holds it',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: 'const holdsBase = isKept || (this.#isNext(member) && isUpToDate);',
    replace: 'const holdsBase = isKept;',
    families: ['people'],
    dies: 'a forge checks out the heads alone that lack its base',
  },
  {
    guard: 'what a commit writes counts',
    file: `${ENGINE}/staging/rebase/rebase-checkouts.ts`,
    find: '    ...steps,\n',
    replace: '',
    families: ['people'],
    dies: 'a rebase stops at a file that a commit of its own converts',
  },
  {
    guard: 'commits that stay as they are are not checked out one by one',
    file: `${ENGINE}/staging/plan-member.ts`,
    find: 'isKept ? [{ sha: head, parent: ours }] : plan.written',
    replace: 'plan.written',
    families: ['people'],
    dies: 'a rebase leaves commits as they are that stand on the base',
  },
  {
    guard: 'the result counts, which the base is checked out over',
    file: `${ENGINE}/staging/rebase/rebase-checkouts.ts`,
    find: 'files: new Map(back.map(([path]) => [path, before.get(path) ?? null]))',
    replace: 'files: new Map()',
    families: ['people'],
    dies: 'a rebase stops at a new file that the base has a rule for',
  },
  {
    guard: 'a file is held to the rules by which it was written',
    file: `${ENGINE}/staging/rebase/checkout-rules.ts`,
    find: '    budget.add(path, version, { written, read: written });\n',
    replace: '',
    families: ['people'],
    dies: 'a rebase stops at the base, which lacks the rule of the head',
  },
  {
    guard: 'only what differs between the head and the base is checked out',
    file: `${ENGINE}/staging/rebase/rebase-checkouts.ts`,
    find: 'step.changes.filter(({ path }) => before.has(path))',
    replace: 'step.changes',
    families: ['people'],
    dies: 'a rebase passes a file by that git converts and that does not change',
  },
  {
    guard: 'text=auto leaves line ends alone that are in the index',
    file: `${ENGINE}/staging/rebase/conversion.ts`,
    find: "return value === 'auto' ? 'auto' : undefined;",
    replace: "return value === 'auto' ? 'always' : undefined;",
    families: ['people'],
    dies: 'a rebase checks out a file whose line ends git leaves alone',
  },
];
