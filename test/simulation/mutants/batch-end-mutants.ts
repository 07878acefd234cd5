import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards against a batch that outlives its base or its context. */
export const BATCH_END_MUTANTS: readonly Mutant[] = [
  {
    guard: 'the base right before a success (A4)',
    file: `${QUEUE}/landing/landing.ts`,
    find: 'if (pull.baseTip !== batch.tip) {',
    replace: 'if (pull.baseTip === null) {',
    families: ['base_pushed', 'foreign_status'],
    dies: 'a push to the base before each call',
  },
  {
    guard: 'the base under a batch (A23)',
    file: `${QUEUE}/batches/end-batch.ts`,
    find: "s.base.value.sha !== record.tip ? 'base_advanced' : null",
    replace: 'false ? null : null',
    families: ['base_pushed', 'foreign_status', 'unchecked_head'],
    dies: 'a push to the base while gated',
  },
  {
    guard: 'another context ends the batch (A23)',
    file: `${QUEUE}/batches/end-batch.ts`,
    find: "  if (record.context !== s.repo.statusContext) return 'context_changed';\n",
    replace: '',
    families: ['settings', 'everything'],
    dies: { family: 'settings', seed: 4 },
  },
];
