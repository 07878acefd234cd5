import type { Mutant } from '../mutants.ts';

const PIPELINE = 'engine-container/src/queue/batches/open-pipeline.ts';
const PEOPLE = ['people', 'everything'] as const;

/** Guards of decision 0286: who waits for a search. */
export const LEFT_BY_SEARCH_MUTANTS: readonly Mutant[] = [
  {
    guard: 'those behind suspects wait for the search where none else waits',
    file: PIPELINE,
    find: 'ready.length === 0 || isLeftBySearch(pass, ready) ||',
    replace: 'ready.length === 0 ||',
    families: PEOPLE,
    dies: 'none but those behind suspects waits',
  },
  {
    guard: 'another one waits for no search',
    file: PIPELINE,
    find: 'ready.every(({ pr, head }) =>',
    replace: 'ready.some(({ pr, head }) =>',
    families: PEOPLE,
    dies: 'another one comes beside those behind suspects',
  },
  {
    guard: 'a new head of one behind suspects is another one',
    file: PIPELINE,
    find: 'member.pr === pr && member.head === head)',
    replace: 'member.pr === pr && head !== null)',
    families: PEOPLE,
    dies: 'one behind suspects is pushed to',
  },
  {
    guard: 'an incident waits for no search',
    file: PIPELINE,
    find: 'policyFor(pass).cuts > 1 || ready.some(isIncident)',
    replace: 'policyFor(pass).cuts > 1',
    families: PEOPLE,
    dies: 'one behind suspects becomes an incident',
  },
  {
    guard: 'a search of several cuts is waited for by none',
    file: PIPELINE,
    find: 'policyFor(pass).cuts > 1 || ready.some(isIncident)',
    replace: 'ready.some(isIncident)',
    families: PEOPLE,
    dies: 'those behind suspects wait, and several cuts are tried',
  },
];
