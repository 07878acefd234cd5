import type { Mutant } from '../mutants.ts';

const MIDWAY = 'the forge is put back while two of three have landed';

/** Guards of a queue whose forge was put back from an older copy of itself. */
export const PUT_BACK_MUTANTS: readonly Mutant[] = [
  {
    guard: 'landings that the forge has lost hold up no queue',
    file: 'engine-container/src/reading/read-traces.ts',
    find: '? await this.#commits.traceWithoutHistory(record)',
    replace: '? new Map()',
    families: [],
    dies: MIDWAY,
  },
  {
    guard: 'a landing that the forge has lost is not told as one',
    file: 'engine-container/src/queue/landing/proof.ts',
    find: "if (trace.value === 'lost') {",
    replace: "if (trace.value === 'lost' && batch.landed < 0) {",
    families: [],
    dies: MIDWAY,
  },
  {
    guard: 'what came on top of a tip that the forge has lost is not searched for an hour',
    file: 'engine-container/src/reading/read-outside-pulls.ts',
    find: 'return [];',
    replace: 'throw error;',
    families: [],
    dies: 'the forge is put back after all have landed',
  },
];
