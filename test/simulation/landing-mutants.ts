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
];
