import type { Mutant } from './mutants.ts';

const SEEN = 'engine-container/src/queue/runners-seen.ts';

/** Guards of decision 0248: what a gate run that waits for a runner says of the number of runners. */
export const RUNNER_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a changed gate that waits for the runner of another run is not given up for its wait',
    file: 'engine-container/src/queue/gates.ts',
    find: 'record.runnersSeen !== undefined || !waitsForRunner(node)',
    replace: '!waitsForRunner(node)',
    families: ['drifts'],
    dies: 'a changed gate waits for the runner of another run',
  },
  {
    guard: 'the end of a changed gate counts from the start of its run',
    file: 'engine-container/src/queue/gates.ts',
    find: 'waitsForOurs ? node : {',
    replace: 'waitsForOurs && s.now < 0 ? node : {',
    families: ['drifts'],
    dies: { family: 'drifts', seed: 1_930_000_142 },
  },
  {
    guard: 'no more gate runs are started than the runners were seen to take',
    file: 'engine-container/src/queue/decision-context.ts',
    find: 'Math.min(fanout, runnersOf(rate), runnersSeen)',
    replace: 'Math.min(fanout, runnersOf(rate))',
    families: ['drifts'],
    dies: 'there are three runners and a long line',
  },
  {
    guard: 'one more gate run is tried where none waits',
    file: SEEN,
    find: 'record.runnersSeen = begun.length + 1;',
    replace: 'record.runnersSeen = begun.length;',
    families: ['drifts'],
    dies: 'there were three runners, and now there are plenty',
  },
  {
    guard: 'a number of runners that shows again and again is tried ever more seldom',
    file: SEEN,
    find: ' || isTryDue(pass))',
    replace: ' || true)',
    families: ['drifts'],
    dies: 'there are three runners and a line that never ends',
  },
  {
    guard: 'a short wait for a runner says nothing of their number',
    file: SEEN,
    find: 's.now - stagedAt >= RUNNER_TAKES_RUN_MS',
    replace: 's.now - stagedAt >= 0',
    families: ['drifts'],
    dies: 'runners ask for work once a minute',
  },
  {
    guard: 'a run that a later one has overtaken does not wait for a free runner',
    file: SEEN,
    find: 'isLong && stagedAt >= latest',
    replace: 'isLong',
    families: ['drifts'],
    dies: 'a second gate run asks for a runner that does not exist',
  },
  {
    guard: 'where no gate run goes on the number of runners is not known',
    file: SEEN,
    find: 'if (together === 0) return forgetRunners(record);',
    replace: '',
    families: ['drifts'],
    dies: 'a second gate run asks for a runner that does not exist',
  },
  {
    guard: 'the wait of a second gate run is its own',
    file: 'engine-container/src/queue/search.ts',
    find: '  delete node.runnerWait;\n',
    replace: '',
    families: ['drifts'],
    dies: 'a second gate run asks for a runner that does not exist',
  },
  {
    guard: 'the runners of the forge are not those of another CI',
    file: SEEN,
    find: "if (s.repo.gate === 'statuses') return forgetRunners(record);",
    replace: '',
    families: ['other_ci'],
    dies: 'there were two runners, and now another CI is the gate',
  },
];
