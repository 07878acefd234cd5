import type { Mutant } from './mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of the judgement of what merged: what the queue landed itself is no news, and each other merge is told once. */
export const LANDING_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a base that was read before a landing was seen is no ground for the next batch',
    file: `${QUEUE}/batches/fill.ts`,
    find: '  if (isReplacedTip(record, s.base.value.sha, s)) return;\n',
    replace: '',
    families: ['crowd', 'lagging'],
    dies: 'a base is read before the landing that replaced it',
  },
  {
    guard: 'a landing is no news about itself, whenever its merge is read again',
    file: `${QUEUE}/landing/merged-outside.ts`,
    find: '    hasEverLanded(record, pr) ||\n',
    replace: '',
    families: ['base_pushed'],
    dies: 'the base is pushed back and restored',
  },
  {
    guard: 'a landing of long ago was let through by no other queue',
    file: `${QUEUE}/landing/merged-outside.ts`,
    find: '    hasEverLanded(record, number) ||\n',
    replace: '',
    families: ['base_pushed'],
    dies: 'the base is pushed back and restored',
  },
  {
    guard: 'who was merged with a base whose move was alarmed is not alarmed again',
    file: `${QUEUE}/landing/merged-outside.ts`,
    find: '  else if (record.outsideMove === undefined) alarms',
    replace: '  else alarms',
    families: ['unchecked_head'],
    dies: 'one of the queue is merged past it, and the base is read first',
  },
  {
    guard: 'a base that moved by a merge which was alarmed is not alarmed again',
    file: `${QUEUE}/landing/merged-outside.ts`,
    find: '  if (!isNamed) alarms',
    replace: '  alarms',
    families: ['unchecked_head'],
    dies: 'one of the queue is merged past it, and the base is read last',
  },
  {
    guard: 'a batch that ends after the base was seen to move does not make that news once more',
    file: `${QUEUE}/batches/batch.ts`,
    find: '  return at <= verified ||',
    replace: '  return verified > 0 ||',
    families: ['unchecked_head'],
    dies: 'one of the queue is merged past it, and the base is read first',
  },
  {
    guard: 'a merge that ends long after its success was taken back is the landing that was proven',
    file: `${QUEUE}/landing/given-up.ts`,
    find: '  if (late === undefined || merge === null) return',
    replace: '  if (late !== undefined || merge !== undefined) return',
    families: ['people', 'everything'],
    dies: 'a merge ends long after its success was taken back',
  },
  {
    guard: 'what a landing was proven to make of its base is no news of the base',
    file: `${QUEUE}/landing/base-seen.ts`,
    find: 'isProvenStep(record, seen.sha, tree)',
    replace: 'isProvenStep(record, sha, tree)',
    families: ['people', 'everything'],
    dies: 'a merge ends long after its success was taken back',
  },
  {
    guard: 'one that is first seen with a head that has moved is told as queued',
    file: `${QUEUE}/admission/moved-heads.ts`,
    find: "  emitEvent(pass, 'pr_queued', entry, null, { scheduledAt: schedule.at });\n",
    replace: '',
    families: ['people'],
    dies: 'a push before the first look',
  },
];
