import type { Mutant } from './mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of the judgement of what merged: what the queue landed itself is no news, and each other merge is told once. */
export const LANDING_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a base that was read before a landing was seen is no ground for the next batch',
    file: `${QUEUE}/fill.ts`,
    find: '  if (isReplacedTip(record, s.base.value.sha, s.now)) return;\n',
    replace: '',
    families: ['crowd', 'lagging'],
    dies: { family: 'crowd', seed: 40000408 },
  },
  {
    guard: 'a landing is no news about itself, whenever its merge is read again',
    file: `${QUEUE}/passed.ts`,
    find: '    hasEverLanded(record, pr) ||\n',
    replace: '',
    families: ['base_pushed'],
    dies: 'the base is pushed back and restored',
  },
  {
    guard: 'a landing of long ago was let through by no other queue',
    file: `${QUEUE}/passed.ts`,
    find: '    hasEverLanded(record, number) ||\n',
    replace: '',
    families: ['base_pushed'],
    dies: 'the base is pushed back and restored',
  },
];
