import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of the approvals that a head needs before it is staged. */
export const REVIEW_MUTANTS: readonly Mutant[] = [
  {
    guard: 'the review policy (A29, A31)',
    file: `${QUEUE}/admission/admission.ts`,
    find: '  if (review !== null) return review;\n',
    replace: '',
    families: ['reviews'],
    dies: 'no approval',
  },
  {
    guard: 'stale approvals (A31)',
    file: `${QUEUE}/admission/admission.ts`,
    find: ' && !(ignoreStaleApprovals && stale)',
    replace: '',
    families: ['reviews'],
    dies: 'a stale approval',
  },
  {
    guard: 'an approval before a fork is staged (D-99)',
    file: `${QUEUE}/admission/admission.ts`,
    find: '  if (pull.fromFork) return',
    replace: '  if (pull.fromFork && pull.number < 0) return',
    families: ['reviews'],
    dies: 'a fork without approval',
  },
  {
    guard: 'an approval before an AGit head is staged (D-99)',
    file: `${QUEUE}/admission/admission.ts`,
    find: '  if (pull.agit) return',
    replace: '  if (pull.agit && pull.number < 0) return',
    families: ['reviews'],
    dies: 'an AGit head without approval',
  },
  {
    guard: 'an approval before the branch of one who may only read is staged (D-99)',
    file: `${QUEUE}/admission/admission.ts`,
    find: 'return authorWrites?.known === true && !authorWrites.value',
    replace: 'return authorWrites?.known === true && pull.number < 0 && !authorWrites.value',
    families: ['reviews'],
    dies: 'a branch of an author who may only read',
  },
  {
    guard: 'the reviews of one whose merge a rule blocked are read anew: one that is deleted leaves no trace',
    file: 'engine-container/src/reading/read-views.ts',
    find: 'reading.known && !isBlocked ? this.#cachedReviews',
    replace: 'reading.known && !isHidden ? this.#cachedReviews',
    families: ['reviews'],
    dies: 'an approval is deleted while a gate run is out',
  },
];
