import type { Mutant } from './mutants.ts';

/** Guards against what machines, queues and the store do to the service, and of what is asked before an engine is. */
export const MACHINE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'an idle look that sees a schedule asks for the engine',
    file: 'engine-container/src/idle-look.ts',
    find: 'const isScheduled = seen.length < looked.length;',
    replace: 'const isScheduled = seen.length < 0;',
    families: ['at_rest'],
    dies: { family: 'at_rest', seed: 9 },
  },
];
