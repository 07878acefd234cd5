import type { Mutant } from './mutants.ts';

const TURNS = 'engine-container/src/queue/turns.ts';
const VERDICT = 'engine-container/src/queue/known-verdict.ts';

/** Guards of decisions 0215 and 0216: turns between authors, and no gate run for a failure that is known. */
export const FAIR_MUTANTS: readonly Mutant[] = [
  {
    guard: 'an author with more than a share of the line takes turns with the others',
    file: 'engine-container/src/queue/fill.ts',
    find: '  takeTurns(pass);\n',
    replace: '',
    families: ['one_author'],
    dies: 'one account schedules many, then a person some',
  },
  {
    guard: 'there are three turns of others between two of a crowd',
    file: TURNS,
    find: '1 / AUTHOR_LINE_SHARE_MAX - 1',
    replace: '1 / AUTHOR_LINE_SHARE_MAX - 3',
    families: ['one_author'],
    dies: 'one account schedules many, then a person some',
  },
  {
    guard: 'of two crowds that one is next whose turn was longest ago',
    file: TURNS,
    find: 'a.since - b.since || ',
    replace: 'Math.min(0, a.since) - Math.min(0, b.since) || ',
    families: ['one_author'],
    dies: 'two accounts schedule many',
  },
  {
    guard: 'up to a share of the line the order is that of the schedules',
    file: TURNS,
    find: 'count > AUTHOR_LINE_SHARE_MAX * (inLine.get(rank) ?? 0)',
    replace: 'count > 0 * (inLine.get(rank) ?? 0)',
    families: ['one_author'],
    dies: 'many accounts schedule some each',
  },
  {
    guard: 'a few are no crowd',
    file: TURNS,
    find: 'count > AUTHOR_WAITING_FREE && ',
    replace: '',
    families: ['one_author'],
    dies: 'two people schedule a few',
  },
  {
    guard: 'turns that a crowd has had count for those who come later',
    file: TURNS,
    find: 'const turns: (string | null)[] = [...line.lately];',
    replace: 'const turns: (string | null)[] = [];',
    families: ['one_author'],
    dies: 'one account has many in flight, then a person comes',
  },
  {
    guard: 'of a crowd only the oldest is lifted for its waiting',
    file: TURNS,
    find: 'oldest.get(keyOf(entry, crowd)) === entry && ',
    replace: '',
    families: ['one_author'],
    dies: 'one account has waited for hours with many, then a person comes',
  },
  {
    guard: 'a batch with others ends before the rest of a crowd',
    file: 'engine-container/src/queue/fill.ts',
    find: 'return endBeforeCrowd(pass, others.slice(0, areFailing ? 1 : size));',
    replace: 'return others.slice(0, areFailing ? 1 : size);',
    families: ['one_author'],
    dies: 'one account schedules many, then a person one',
  },
  {
    guard: 'a head whose failure is known is not tested again for a bot',
    file: VERDICT,
    find: "  if (by !== undefined && includesLogin(s.repo.bots, by)) return 'verdict_known';\n",
    replace: '',
    families: ['rules'],
    dies: 'a bot schedules a head that failed',
  },
  {
    guard: 'a head is tested twice on one base, not more often',
    file: VERDICT,
    find: 'times >= TESTS_OF_ONE_TREE_MAX',
    replace: 'times > TESTS_OF_ONE_TREE_MAX',
    families: ['rules'],
    dies: 'a person schedules a head that failed, twice',
  },
  {
    guard: 'a person has one retest of a head that failed',
    file: VERDICT,
    find: 'const TESTS_OF_ONE_TREE_MAX = 2;',
    replace: 'const TESTS_OF_ONE_TREE_MAX = 1;',
    families: ['rules'],
    dies: 'a person schedules a head that failed, twice',
  },
  {
    guard: 'a failure on another base is not that of a person',
    file: VERDICT,
    find: 'isSameTree && times',
    replace: 'times',
    families: ['rules'],
    dies: 'a person schedules a head that failed twice, on another base',
  },
];
