import type { Mutant } from './mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of the heads that a lost record had in flight. */
export const RECALL_MUTANTS: readonly Mutant[] = [
  {
    guard: 'nothing lands while a success of a lost record may stand on a head that cannot be read (A4, A32)',
    file: `${QUEUE}/landing/standing.ts`,
    find: '  if (unreadStanding(record).some(',
    replace: '  if (unreadStanding(record).slice(1).some(',
    families: ['everything', 'storm'],
    dies: 'the record is lost, and the head that wears a success cannot be read',
  },
  {
    guard: 'a success of a lost record that comes late is taken back (A24)',
    file: `${QUEUE}/landing/recall.ts`,
    find: '    watchTold(pass, pr);\n',
    replace: '',
    families: ['long_late', 'everything'],
    dies: 'the record is lost before its success is carried out',
  },
  {
    guard: 'one that was deleted leaves no success of a lost record behind (A24)',
    file: 'engine-container/src/read-recalled.ts',
    find: 'attempt(() => readOrNone(forge, pr))',
    replace: 'attempt(() => forge.readPullRequest(pr))',
    families: ['everything', 'storm'],
    dies: 'the record is lost, and the pull request that wears a success is deleted',
  },
  {
    guard: 'who stops a queue is told of a success that a lost record left (A34)',
    file: `${QUEUE}/told/obligations.ts`,
    find: 'record.batches.some(isSuccessStanding) || unread.length > 0',
    replace: 'record.batches.some(isSuccessStanding)',
    families: ['everything', 'storm'],
    dies: 'a queue is to stop whose record was lost and whose success cannot be read',
  },
  {
    guard: 'a record that was put back knows no head until it was read again (A4, A24)',
    file: 'engine-container/src/record-keeper.ts',
    find: 'this.#mayBeOlder && !this.#memory.isOwn ?',
    replace: 'this.#mayBeOlder && !this.#memory.isOwn && stored.version < 0 ?',
    families: ['everything'],
    dies: 'an earlier record is put back under a success',
  },
  {
    guard: 'a record that was put back knows no head that is not scheduled either (A24)',
    file: 'engine-container/src/record-keeper.ts',
    find: 'return { ...record, readings, rebuilding: true };',
    replace: 'return { ...record, rebuilding: true };',
    families: ['everything'],
    dies: 'an earlier record is put back under a success of what is not scheduled any more',
  },
];
