import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of decision 0206: the order of the queue. */
export const PRIORITY_MUTANTS: readonly Mutant[] = [
  {
    guard: 'an incident overtakes what has just begun',
    file: `${QUEUE}/batches/fill.ts`,
    find: '  if (overtake(pass, base.tree)) return;\n',
    replace: '',
    families: ['priorities'],
    dies: 'an incident comes right after a batch was staged',
  },
  {
    guard: 'a gate run that is more than half done is kept',
    file: `${QUEUE}/line/incidents.ts`,
    find: 's.now - (stagedAt ?? s.now) >= KEPT_SHARE * usualMs',
    replace: 's.now - (stagedAt ?? s.now) >= 2 * KEPT_SHARE * usualMs',
    families: ['priorities'],
    dies: 'an incident comes when a gate run is nearly over',
  },
  {
    guard: 'nothing is thrown away for an incident while a slot is free',
    file: `${QUEUE}/line/incidents.ts`,
    find: '    kept.add(batch);\n    free -=',
    replace: '    if (chance < 0) kept.add(batch);\n    free -=',
    families: ['priorities'],
    dies: 'an incident comes while a slot is free',
  },
  {
    guard: 'only the labels of named accounts count',
    file: 'core/domain/repos/priority.ts',
    find: '.filter(({ by }) => people.has(by.toLowerCase()))',
    replace: '.filter(() => people.size > 0)',
    families: ['priorities'],
    dies: 'a stranger puts the label of an incident on',
  },
  {
    guard: 'a conflict with what is in flight does not end that with the base',
    file: `${QUEUE}/batches/defer.ts`,
    find: 'isOfBatchAhead(known) !== isOfBatchAhead(deferred) &&',
    replace: 'isOfBatchAhead(known) && !isOfBatchAhead(known) &&',
    families: ['priorities'],
    dies: 'an incident conflicts with the base and with what is in flight',
  },
  {
    guard: 'the order of the queue (A9, A18)',
    file: `${QUEUE}/record/queue-entry.ts`,
    find: 'a.queuedAt - b.queuedAt || a.pr - b.pr',
    replace: 'b.queuedAt - a.queuedAt || b.pr - a.pr',
    families: ['calm'],
    dies: { family: 'calm', seed: 1 },
  },
];
