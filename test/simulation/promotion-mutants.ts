import type { Mutant } from './mutants.ts';

const FILE = 'engine-container/src/read-twins.ts';

/** Guards of a pull request from the base to another branch against a success that a fast-forward brings to its head. */
export const PROMOTION_MUTANTS: readonly Mutant[] = [
  {
    guard: 'no fast-forward to the head of a pull request from the base (D-17)',
    file: FILE,
    find: '    if (!this.#mayFastForward(pull)) return known(null);\n',
    replace: '    if (pull.number > 0) return known(null);\n',
    families: ['rules'],
    dies: 'the base heads a pull request to another branch',
  },
  {
    guard: 'a head that is behind its base lands beside a pull request from the base',
    file: FILE,
    find: '(mergeBase === null || mergeBase === baseTip)',
    replace: '(mergeBase === null || baseTip !== null)',
    families: ['rules'],
    dies: 'a head behind the base lands beside a pull request from there',
  },
];
