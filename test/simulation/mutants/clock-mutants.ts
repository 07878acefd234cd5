import type { Mutant } from '../mutants.ts';

const SRC = 'engine-container/src';

/** Guards of decision 0271: the wall clock of an engine is set forward or back. */
export const CLOCK_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a success without an answer is waited for as long as before where the clock is set forward (A24)',
    file: `${SRC}/queue/record/clock-step.ts`,
    find: "['intentAt', 'postedAt', 'askedAt', 'unmergeableSince']",
    replace: "['intentAt', 'postedAt', 'unmergeableSince']",
    families: ['storm'],
    dies: 'the clock is set forward after a success without an answer',
  },
  {
    guard: 'a clock that is set back holds no gate run up',
    file: `${SRC}/queue/record/clock-step.ts`,
    find: "      'readyAt',\n",
    replace: '',
    families: ['storm'],
    dies: 'the clock is set back while a gate run goes on',
  },
  {
    guard:
      'a head that is scheduled again is tested on evidence of after that, wherever the clock is set (D-05)',
    file: `${SRC}/queue/record/clock-step.ts`,
    find: "      'retestAfter',\n",
    replace: '',
    families: ['storm'],
    dies: 'one that was bounced is scheduled again, and the clock is set back',
  },
  {
    guard: 'a failure of before the clock was set back blames no pull request that is tested again (D-05)',
    file: `${SRC}/queue/record/clock-step.ts`,
    find: "evidence: ['at'],",
    replace: '',
    families: ['storm'],
    dies: 'the clock is set back, and one that was bounced is scheduled again',
  },
  {
    guard: 'a clock that is set back makes no proven landing one of another (A39)',
    file: `${SRC}/queue/record/clock-step.ts`,
    find: "baseSeen: ['at'],",
    replace: '',
    families: ['storm'],
    dies: 'the clock is set back while a gate run goes on',
  },
  {
    guard: 'a clock that is set back holds no landing up',
    file: `${SRC}/reconcile/adopt-record.ts`,
    find: 'clock.stepSince(stored.storedBy);',
    replace: 'Math.max(0, clock.stepSince(stored.storedBy));',
    families: ['storm'],
    dies: 'the clock is set back while the forge overlooks a success',
  },
  {
    guard: 'a person lifts a halt of before the clock was set back',
    file: `${SRC}/queue/record/clock-step.ts`,
    find: 'halted: halted && shiftStop(halted, stepMs),',
    replace: '',
    families: ['storm'],
    dies: 'the clock is set back while the queue stands still, and a person switches it off and on',
  },
  {
    guard: 'a clock that is set back lifts no halt (A2)',
    file: `${SRC}/queue/record/stop-state.ts`,
    find: ' && repo.enabledAt !== enabledAt',
    replace: '',
    families: ['storm'],
    dies: 'the clock is set back while the queue stands still, and a person switches it off and on',
  },
  {
    guard: 'a running machine that was put back to a snapshot reads each open head again (A4, A24)',
    file: `${SRC}/stored-record/record-keeper.ts`,
    find: ' && this.#clock.stepSince(stored.record.storedBy) <= 0',
    replace: '',
    families: ['storm'],
    dies: 'the machine is put back to a snapshot in which the engine runs',
  },
  {
    guard: 'a machine that was suspended sends nothing under a lease that has ended meanwhile (A41)',
    file: 'core/domain/wakes/lease.ts',
    find: ' || (wallNow !== undefined && wallNow() >= wallDeadline)',
    replace: ' || (wallNow !== undefined && wallNow() > Number.MAX_SAFE_INTEGER + wallDeadline)',
    families: ['storm'],
    dies: 'the machine is suspended before it posts a success, and another worker takes over',
  },
  {
    guard: 'a step is followed once, whatever the store refuses (A24)',
    file: `${SRC}/stored-record/record-keeper.ts`,
    find: 'document: toDocument(fitting, left),',
    replace:
      'document: toDocument({ ...fitting, storedBy: this.#stored?.storedBy ?? fitting.storedBy }, left),',
    families: ['storm'],
    dies: 'the clock is set back, and the second write of a save is refused',
  },
];
