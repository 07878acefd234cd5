import type { Mutant } from '../mutants.ts';

/** Guards of the queue record as it is stored. */
export const RECORD_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a landing of a lost record is known by what the record told last (A24, A32)',
    file: 'engine-container/src/stored-record/adopt-lost.ts',
    find: '(told?.left == null ? [] : [told.left])',
    replace: '[]',
    families: ['drifts', 'storm'],
    dies: 'the record of a landing is lost that no row tells of',
  },
  {
    guard: 'what does not fit a write waits in the document (exactly once)',
    file: 'engine-container/src/stored-record/record-keeper.ts',
    find: 'document: toDocument(fitting, left),',
    replace: 'document: toDocument(fitting),',
    families: ['crashes', 'everything'],
    dies: 'a crash between two writes of one save',
  },
  {
    guard: 'a record that is too large is stored without what can be read again',
    file: 'engine-container/src/queue/record/shed.ts',
    find: '  if (step > STEPS.length) return null;',
    replace: '  if (step > 0) return null;',
    families: ['crowd'],
    dies: 'the record outgrows its row',
  },
  {
    guard: 'a success is taken back though the record cannot be saved',
    file: 'engine-container/src/reconcile/reconcile.ts',
    find: "error.kind === 'too_large') await this.#takeBack();",
    replace: "error.kind === 'too_large') await Promise.resolve();",
    families: ['crowd'],
    dies: 'the record outgrows its row in a landing',
  },
  {
    guard: 'what was written before the record stopped to fit is stored',
    file: 'engine-container/src/reconcile/reconcile.ts',
    find: '    await this.#keeper.saveDone(this.#deps.clock.now());\n',
    replace: '',
    families: ['crowd'],
    dies: 'the record outgrows its row by what is staged',
  },
];
