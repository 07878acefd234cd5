import type { Mutant } from '../mutants.ts';

const READING = 'engine-container/src/reading';

/** Guards of decision 0321: timelines that are too long for one reading. */
export const LONG_TIMELINE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a timeline that was read in part says nothing',
    file: `${READING}/read-timelines.ts`,
    find: '    if (readTo === null) return [',
    replace: '    if (pr > 0) return [',
    families: ['gitea'],
    dies: 'a push behind more entries than a reading comes to',
  },
  {
    guard: 'what was read of a long timeline is not read again',
    file: `${READING}/read-timelines.ts`,
    find: '    const kept = this.#memory.get(pr);\n',
    replace: '    const kept = this.#memory.get(-pr);\n',
    families: ['gitea'],
    dies: 'a schedule and its cancel behind a thousand entries',
  },
  {
    guard: 'a timeline that was not read to its end comes after all that a look reads',
    file: `${READING}/read-schedules.ts`,
    find: 'if (timelines.isPartial(pull.number))',
    replace: 'if (timelines.isPartial(-pull.number))',
    families: ['gitea'],
    dies: 'a timeline that takes all the time of a look beside a schedule',
  },
  {
    guard: 'a look goes on with a timeline that it read in part',
    file: `${READING}/read-snapshot.ts`,
    find: 'this.#budget.isSpent || this.#timelines.isUnfinished',
    replace: 'this.#budget.isSpent',
    families: ['gitea'],
    dies: 'a schedule and its cancel behind a thousand entries',
  },
  {
    guard: 'a timeline with an entry that no answer holds fails no look',
    file: `${READING}/read-timelines.ts`,
    find: 'if (!(error instanceof AnswerTooLarge)) throw error;',
    replace: 'throw error;',
    families: ['gitea'],
    dies: 'a comment that no answer holds beside a schedule',
  },
];
