import type { Mutant } from '../mutants.ts';

const FILE = 'engine-container/src/reading/read-twins.ts';

/** Guards of a pull request from the base to another branch against a success that a fast-forward brings to its head. */
export const PROMOTION_MUTANTS: readonly Mutant[] = [
  {
    guard: 'no fast-forward to the head of a pull request from the base (D-17)',
    file: FILE,
    find: 'if (!isBase.known || !isBase.value) return mapKnown(isBase, () => null);',
    replace: 'if (isBase.known) return known(null);',
    families: ['rules'],
    dies: 'the base heads a pull request to another branch',
  },
  {
    guard: 'a head that is behind its base lands beside a pull request from the base',
    file: FILE,
    find: 'const mayFastForward = isUpToDate(pull) ? known(true) : await holdsTip();',
    replace: 'const mayFastForward = isUpToDate(pull) ? known(true) : known(holdsTip !== null);',
    families: ['rules'],
    dies: 'a head behind the base lands beside a pull request from there',
  },
  {
    guard: 'a conflict check of before says nothing of a fast-forward',
    file: FILE,
    find: 'return this.#opensOneOf(pull, others, () => this.#holdsTip(pull));',
    replace: 'return this.#opensOneOf(pull, others);',
    families: ['rules'],
    dies: 'the base heads a pull request to another branch, and a check is late',
  },
];
