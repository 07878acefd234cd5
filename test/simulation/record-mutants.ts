import type { Mutant } from './mutants.ts';

/** Guards of the queue record as it is stored. */
export const RECORD_MUTANTS: readonly Mutant[] = [
  {
    guard: 'what does not fit a write waits in the document (exactly once)',
    file: 'engine-container/src/record-keeper.ts',
    find: 'document: isEmpty(left) ? record : { ...record, unsent: left },',
    replace: 'document: record,',
    families: ['crashes', 'everything'],
    dies: 'a crash between two writes of one save',
  },
];
