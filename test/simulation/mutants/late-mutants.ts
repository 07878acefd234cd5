import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of branches that come, go or run later than their call was given up (E7). */
export const LATE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'what a late call leaves behind is swept (E7)',
    file: `${QUEUE}/batches/late-branches.ts`,
    find: 'const LATE_EFFECT_MS = SUCCESS_LATE_MS;',
    replace: 'const LATE_EFFECT_MS = 0;',
    families: ['faults', 'workers', 'everything'],
    dies: 'a branch comes late',
  },
  {
    guard: 'what a staging of a batch without a known end leaves behind is swept (E7)',
    file: `${QUEUE}/batches/stage.ts`,
    find: '  if (batch.builds > 1) sweepLate(',
    replace: '  if (batch.builds < 0) sweepLate(',
    families: ['faults', 'workers', 'everything'],
    dies: 'the staging of a batch comes late and unsaid',
  },
  {
    guard: 'what a staging of a part without a known end leaves behind is swept (E7)',
    file: `${QUEUE}/batches/stage.ts`,
    find: '  if (isTriedAgain) sweepLate(',
    replace: '  if (isTriedAgain && batch.builds < 0) sweepLate(',
    families: ['faults', 'workers', 'everything'],
    dies: 'the staging of a part comes late and unsaid',
  },
  {
    guard: 'the name of a deletion that may still be under way (E7)',
    file: `${QUEUE}/fold.ts`,
    find: "if (action.kind === 'delete_branch') return reserveName(pass, action.branch);",
    replace: "if (action.kind === 'delete_branch') return;",
    families: ['faults', 'workers', 'everything'],
    dies: 'a deletion comes late',
  },
  {
    guard: 'a run that can never come, because its branch is gone',
    file: 'engine-container/src/reading/read-gates.ts',
    find: "if (gate.kind !== 'none' || !isLate) return gate;",
    replace: "if (gate.kind !== 'none' || isLate || !isLate) return gate;",
    families: ['people', 'everything'],
    dies: 'a branch goes early',
  },
];
