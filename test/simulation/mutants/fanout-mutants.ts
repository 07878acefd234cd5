import type { Mutant } from '../mutants.ts';

const AUTO = 'engine-container/src/queue/policy/auto-fanout.ts';

/** Guards of decision 0242: which number of gate runs at once the queue chooses, and that it keeps to it. */
export const FANOUT_MUTANTS: readonly Mutant[] = [
  {
    guard: 'the queue chooses no more gate runs at once than there may be (A28)',
    file: AUTO,
    find: 'BISECT_FANOUT_MAX - BASE_FANOUT + 1',
    replace: 'BISECT_FANOUT_MAX - BASE_FANOUT + 9',
    families: ['one_author'],
    dies: 'many are scheduled, and the queue may spend what it wants',
  },
  {
    guard: 'the queue keeps to the number that it chose (A28)',
    file: 'engine-container/src/queue/policy/in-force.ts',
    find: 'record.autoFanout?.inForce ?? BASE_FANOUT',
    replace: '16',
    families: ['one_author'],
    dies: 'many are scheduled, and the queue may spend little',
  },
  {
    guard: 'the queue stays within the budget (A28)',
    file: AUTO,
    find: 'cost(fanout) <= auto.budget)',
    replace: 'cost(fanout) <= 40 * auto.budget)',
    families: ['one_author'],
    dies: 'many are scheduled, and the queue may spend little',
  },
  {
    guard: 'one at a time is not chosen where it would not keep up',
    file: AUTO,
    find: 'const keepsUp = within !== null &&',
    replace: 'const keepsUp = within === null ||',
    families: ['one_author'],
    dies: 'many are scheduled, and the queue may spend little',
  },
  {
    guard: 'one at a time is chosen where it keeps up and the budget is small',
    file: AUTO,
    find: 'const fewest = keepsUp ? 1 :',
    replace: 'const fewest = keepsUp ? BASE_FANOUT :',
    families: ['one_author'],
    dies: 'few are scheduled, and the queue may spend little',
  },
  {
    guard: 'a number that was dear for a few landings falls by half at most',
    file: AUTO,
    find: 'Math.ceil(auto.inForce / 2)',
    replace: '1',
    families: ['one_author'],
    dies: 'the first that land after a choice are dear',
  },
  {
    guard: 'what the queue chose is forgotten where the settings name a number',
    file: 'engine-container/src/queue/policy/fanout-choice.ts',
    find: '    delete record.autoFanout;\n',
    replace: '',
    families: ['one_author'],
    dies: 'the choice of the fan-out is taken back from the queue',
  },
];
