import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';
const EXEMPT = 'isFreeze && entry?.isExempt === true';

/** Guards of decision 0208: freeze windows, and what is exempt from them. */
export const FREEZE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a label that exempts counts in a freeze window',
    file: `${QUEUE}/line/holds.ts`,
    find: EXEMPT,
    replace: 'isFreeze && entry === undefined',
    families: ['freezes'],
    dies: 'a named account and a stranger exempt from a freeze window',
  },
  {
    guard: 'what is not exempt waits for the end of a freeze window',
    file: `${QUEUE}/line/holds.ts`,
    find: EXEMPT,
    replace: 'isFreeze && entry !== undefined',
    families: ['freezes'],
    dies: 'a named account and a stranger exempt from a freeze window',
  },
  {
    guard: 'only labels of named accounts exempt',
    file: 'core/domain/repos/priority.ts',
    find: '.filter(({ by }) => people.has(by.toLowerCase()))',
    replace: '.filter(() => people.size > 0)',
    families: ['freezes'],
    dies: 'a named account and a stranger exempt from a freeze window',
  },
  {
    guard: 'a freeze window takes back what is in flight',
    file: 'core/domain/repos/pause.ts',
    find: "kind: 'pause', isFreeze: true",
    replace: "kind: 'drain', isFreeze: true",
    families: ['freezes'],
    dies: 'a freeze window begins while a success stands',
  },
  {
    guard: 'no label exempts from a pause of the owner',
    file: `${QUEUE}/line/holds.ts`,
    find: EXEMPT,
    replace: 'entry?.isExempt === true',
    families: ['freezes'],
    dies: 'a pause of one that is exempt from freeze windows',
  },
  {
    guard: 'a drain keeps exempt ones too from being staged in a freeze window',
    file: `${QUEUE}/line/holds.ts`,
    find: 'hold.drain !== undefined || ',
    replace: '',
    families: ['freezes'],
    dies: 'a drain in a freeze window',
  },
  {
    guard: 'one that is exempt from a freeze window is told of the drain that holds it up',
    file: 'core/domain/repos/pause.ts',
    find: 'return isFreeze && isExempt === true && drain !== undefined',
    replace: 'return isFreeze && isExempt === undefined && drain !== undefined',
    families: ['freezes'],
    dies: 'a drain in a freeze window',
  },
];
