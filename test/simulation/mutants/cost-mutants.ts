import type { Mutant } from '../mutants.ts';

const SPENDING = 'engine-container/src/reconcile/forge-spending.ts';

/** Guards of decision 0188: what a batch cost on the forge. */
export const COST_MUTANTS: readonly Mutant[] = [
  {
    guard: 'of a batch that another engine began no costs are told',
    file: SPENDING,
    find: 'if (!this.#known.has(batchId)) this.#unknown.add(batchId);',
    replace: '{ if (!this.#known.has(batchId)) this.#known.set(batchId, NOTHING); }',
    families: ['crashes'],
    dies: 'each look is by another engine',
  },
  {
    guard: 'a call is counted for one batch, once',
    file: SPENDING,
    find: '    this.#calls = 0;\n    this.#bytes = 0;\n    for',
    replace: '    for',
    families: ['crashes'],
    dies: 'one engine sees two batches whole',
  },
];
