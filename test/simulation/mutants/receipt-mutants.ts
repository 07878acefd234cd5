import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of decisions 0227 and 0197: who a receipt and an event name. */
export const RECEIPT_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a receipt names who scheduled the head that landed',
    file: `${QUEUE}/admission/entries.ts`,
    find: '  else entry.scheduledBy = by;',
    replace: '  else entry.scheduledBy ??= by;',
    families: ['people'],
    dies: 'a newer head is scheduled by another person',
  },
  {
    guard: 'the receipt of a twin names who scheduled the twin',
    file: `${QUEUE}/landing/twins.ts`,
    find: '{ ...meant, pr, ...askersOf(pass.record, pr, landing.head) }',
    replace: '{ ...landing, pr }',
    families: ['shared_heads'],
    dies: 'a twin was scheduled by another person',
  },
  {
    guard: 'an event of a twin that landed names the author of the twin',
    file: `${QUEUE}/landing/twins.ts`,
    find: 'title: pull.title, ...authored(pull) };',
    replace: 'title: pull.title, ...authored(batch.members[landing.index] ?? {}) };',
    families: ['shared_heads'],
    dies: 'a twin of another author landed',
  },
  {
    guard: 'a receipt names who approved the head that landed, and no earlier one',
    file: `${QUEUE}/admission/reviews.ts`,
    find: "state === 'approved' && isOnHead(review, head, since)",
    replace: "state === 'approved' && (isOnHead(review, head, since) || head !== '')",
    families: ['reviews'],
    dies: 'an earlier head was approved by another person',
  },
  {
    guard: 'a merge that cannot be read may be that of a twin',
    file: `${QUEUE}/landing/twins.ts`,
    find: '(focus.merge?.known !== true || isMergeOf',
    replace: '(focus.merge?.known === true && isMergeOf',
    families: ['two_branches', 'shared_heads'],
    dies: 'the merge of a twin cannot be read for a while',
  },
  {
    guard: 'a landing before a known failure has a row that gets its receipt (A42)',
    file: `${QUEUE}/gate/search.ts`,
    find: 'if (accused.from < low && batch.landed < low)',
    replace: 'if (accused.from < low && batch.landed < low && low < 0)',
    families: ['interrupted'],
    dies: 'one lands before another whose failure is known',
  },
  {
    guard: 'the row of a landing before a known failure names the run that passed',
    file: `${QUEUE}/gate/search.ts`,
    find: 'verdict.proof ?? verdict.failures.at(-1) ?? failing;',
    replace: 'verdict.failures.at(-1) ?? failing;',
    families: ['interrupted'],
    dies: 'one lands before another whose failure is known',
  },
];
